package brokered

import (
	"sync"

	"posta.dev/posta/link"
)

// Ledger knows which deliveries of one link the broker has not been told to forget, and which of them it may: those whose frames all have
// their effect on disk (R5), and those whose frames are never going to have one. T is what the broker knows a delivery by.
//
// A delivery is done when, for the acknowledgement that the node gives its sender,
//
//	its last number is not above the hwm      the effect is durable, or it was a repetition (R4)
//	its log is not the one that hwm counts in  the receiver has dropped it: unknown, or a zombie's (R8)
//	its incarnation was followed by another    likewise
//	a resend is asked for                      what is behind the hole was dropped, and comes again
//
// Without the last three, frames that were dropped could fill all that the broker gives without an answer, and the frame that
// is missing would never be given. To be wrong with them costs nothing: the frames are in their sender's outbox still.
type Ledger[T any] struct {
	wake chan struct{}

	mu     sync.Mutex
	open   []delivery[T] // in the order they came
	done   []T
	newest link.Identity // of the frames that came; its incarnation is the highest of its log
}

type delivery[T any] struct {
	tag  T
	id   link.Identity
	last link.Seq
}

// NewLedger returns an empty one.
func NewLedger[T any]() *Ledger[T] { return &Ledger[T]{wake: make(chan struct{}, 1)} }

// Delivered notes what has come. No frames at all is a delivery that could not be read.
func (l *Ledger[T]) Delivered(tag T, frames []link.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := delivery[T]{tag: tag}
	if n := len(frames); n > 0 {
		d.id = frames[n-1].ID
		for i := range frames {
			d.last = max(d.last, frames[i].Seq)
		}
	}
	if d.id.LogID != l.newest.LogID || d.id.Incarnation > l.newest.Incarnation {
		l.newest = d.id
	}
	l.open = append(l.open, d)
}

// Answered takes what the node tells the link's sender.
func (l *Ledger[T]) Answered(a *link.Ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for ; n < len(l.open) && (a.Resend || l.overLocked(&l.open[n], a)); n++ {
		l.done = append(l.done, l.open[n].tag)
	}
	if n == 0 {
		return
	}
	l.open = l.open[n:]
	if len(l.open) == 0 {
		l.open = nil
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Ledger[T]) overLocked(d *delivery[T], a *link.Ack) bool {
	return d.last <= a.Hwm || d.id.LogID != a.Log || d.id.LogID == l.newest.LogID && d.id.Incarnation < l.newest.Incarnation
}

// Wake is ready when Done may have something.
func (l *Ledger[T]) Wake() <-chan struct{} { return l.wake }

// Done returns, and forgets, what the broker may forget, in the order it came.
func (l *Ledger[T]) Done() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := l.done
	l.done = nil
	return done
}

// Reset forgets all: over a new connection the broker gives again what it was not told to forget, by other names.
func (l *Ledger[T]) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open, l.done = nil, nil
}
