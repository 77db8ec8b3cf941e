package brokered

import (
	"sync"

	"posta.dev/posta/link"
)

// unacked holds the deliveries of one link that are not acknowledged to the broker yet, and finds those that may be: the effects of all
// their frames are on disk (R5), or they will never have any. T is the broker's identifier of a delivery.
//
// A delivery is settled if one of these is true of the acknowledgement that the node sends to its sender:
//
//	its last number is at most the hwm        the effect is durable, or it was a repetition (R4)
//	the hwm is of another log                  the receiver has dropped it: it is unknown, or a zombie's (R8)
//	its incarnation is superseded              likewise
//	it is of another start than the echoed one likewise (R14)
//	a resend is asked for                      frames after the hole were dropped, and come again
//
// Without the last four, dropped frames could use up the broker's prefetch, and the missing frame would never be delivered. An error in
// them loses nothing: the frames are still in their sender's outbox.
type unacked[T any] struct {
	wake chan struct{}

	mu      sync.Mutex
	open    []delivery[T] // in the order they came
	settled []T
	newest  link.Identity // of the frames that came; its incarnation is the highest of its log
}

type delivery[T any] struct {
	tag  T
	id   link.Identity
	last link.Seq
}

// newUnacked returns one without deliveries.
func newUnacked[T any]() *unacked[T] { return &unacked[T]{wake: make(chan struct{}, 1)} }

// delivered adds a delivery. One without frames could not be decoded.
func (u *unacked[T]) delivered(tag T, frames []link.Frame) {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := delivery[T]{tag: tag}
	if n := len(frames); n > 0 {
		d.id = frames[n-1].ID
		for i := range frames {
			d.last = max(d.last, frames[i].Seq)
		}
	}
	if (d.id.LogID != u.newest.LogID || d.id.Incarnation > u.newest.Incarnation) && u.newest.Reaches(d.id) { // M10
		u.newest = d.id
	}
	u.open = append(u.open, d)
}

// acked takes the acknowledgement that the node gives the link's sender.
func (u *unacked[T]) acked(a *link.Ack) {
	if a.Superseded {
		return // it does not say what was taken
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for ; n < len(u.open) && (a.Resend || u.settledLocked(&u.open[n], a)); n++ {
		u.settled = append(u.settled, u.open[n].tag)
	}
	if n == 0 {
		return
	}
	u.open = u.open[n:]
	if len(u.open) == 0 {
		u.open = nil
	}
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

func (u *unacked[T]) settledLocked(d *delivery[T], a *link.Ack) bool {
	return d.last <= a.Hwm || d.id.LogID != a.Log || d.id.Life != a.Echo || d.id.LogID == u.newest.LogID &&
		d.id.Incarnation < u.newest.Incarnation
}

// Wake is ready when TakeSettled may have something.
func (u *unacked[T]) Wake() <-chan struct{} { return u.wake }

// TakeSettled returns, and forgets, the deliveries that the broker may forget, in the order they came.
func (u *unacked[T]) TakeSettled() []T {
	u.mu.Lock()
	defer u.mu.Unlock()
	done := u.settled
	u.settled = nil
	return done
}

// Reset forgets all deliveries: over a new connection the broker delivers unacknowledged ones again, with new tags.
func (u *unacked[T]) Reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open, u.settled = nil, nil
}
