package core

import (
	"time"

	"posta.dev/posta/link"
)

// inLink is a link that ends here: its receiver, and the frames that have arrived and wait to be taken. The queue is
// bounded by the sender's window (R9).
type inLink struct {
	edge    InEdge
	index   int // among the links that end here
	recv    *link.Receiver
	queue   []waiting // from head on: the frames that wait, in the order they came; before head: empty frames
	head    int
	bytes   int  // of the frames that wait
	sound   bool // the frame at the head was found intact; it is not checked again while it waits
	dialled bool // the connection that this node makes stands; stays true

	drops [link.Verdicts]uint64 // frames that were not taken, by verdict, since the node started

	leftBehind bool // another link from the same sender has brought its new log, and this one has not
}

// waiting is a frame that waits to be taken, with the time of its arrival by the clock of Config.Trace.
type waiting struct {
	link.Frame
	at time.Duration
}

func (l *inLink) key() linkKey { return linkKey{l.edge.Name, l.recv.From} }

// push queues a frame. Of several hellos in a row only the last one matters, and replaces the others: a link that is held back for long
// (R11) gets one every now and then.
func (l *inLink) push(f link.Frame, at time.Duration) {
	if f.Kind == link.Hello {
		l.dropSuperseded(f.ID)
	}
	if last := len(l.queue) - 1; f.Kind == link.Hello && last >= l.head {
		if t := &l.queue[last]; t.Kind == link.Hello && t.ID == f.ID {
			l.bytes += f.Size() - t.Size()
			*t = waiting{f, at}
			return
		}
	}
	l.queue = append(l.queue, waiting{f, at})
	l.bytes += f.Size()
}

// dropSuperseded drops waiting frames that a former life of the sender has sent; its present life sends them again. The hello must not wait
// behind them. The frames may be facts that wait for the end of the sender's reference data (R11), and the sender sends that end only after
// an answer to its hello.
func (l *inLink) dropSuperseded(present link.Identity) {
	kept := l.queue[:l.head]
	for _, f := range l.queue[l.head:] {
		if f.ID.LogID == present.LogID && f.ID.Incarnation < present.Incarnation {
			l.bytes -= f.Size()
			continue
		}
		kept = append(kept, f)
	}
	clear(l.queue[len(kept):])
	l.queue, l.sound = kept, false
}

func (l *inLink) peek() *link.Frame {
	if l.head == len(l.queue) {
		return nil
	}
	return &l.queue[l.head].Frame
}

// arrived returns when the frame at the head arrived.
func (l *inLink) arrived() time.Duration { return l.queue[l.head].at }

func (l *inLink) pop() {
	f := &l.queue[l.head]
	l.bytes -= f.Size()
	*f = waiting{} // let the payload go
	l.sound = false
	l.head++
	if l.head == len(l.queue) {
		l.queue, l.head = l.queue[:0], 0
	} else if l.head > 1024 && l.head > len(l.queue)/2 {
		n := copy(l.queue, l.queue[l.head:])
		clear(l.queue[n:])
		l.queue, l.head = l.queue[:n], 0
	}
}
