package core

import "posta.dev/posta/link"

// inLink is a link that ends here: its receiver, and the frames that have arrived and wait to be taken. The queue is
// bounded by the sender's window (R9).
type inLink struct {
	edge    InEdge
	recv    *link.Receiver
	queue   []link.Frame // from head on: the frames that wait, in the order they came; before head: empty frames
	head    int
	bytes   int  // of the frames that wait
	sound   bool // the frame at the head is intact: while it has to wait it is not looked at again
	dialled bool // the connection that this node makes stands; stays true
}

func (l *inLink) key() linkKey { return linkKey{l.edge.Name, l.recv.From} }

// push queues a frame. Of several hellos in a row only the last one matters, and replaces the others: a link that is held back for long (R11)
// gets one every now and then.
func (l *inLink) push(f link.Frame) {
	if f.Kind == link.Hello {
		l.dropSuperseded(f.ID)
	}
	if last := len(l.queue) - 1; f.Kind == link.Hello && last >= l.head {
		if t := &l.queue[last]; t.Kind == link.Hello && t.ID == f.ID {
			l.bytes += f.Size() - t.Size()
			*t = f
			return
		}
	}
	l.queue = append(l.queue, f)
	l.bytes += f.Size()
}

// dropSuperseded drops frames that wait and that a former life of the sender has sent. The sender says hello because it has no answer yet, and
// the answer lets it send its reference data's end, for which the frames may wait (R11). Its present life sends them again.
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
	return &l.queue[l.head]
}

func (l *inLink) pop() {
	f := &l.queue[l.head]
	l.bytes -= f.Size()
	*f = link.Frame{} // let the payload go
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
