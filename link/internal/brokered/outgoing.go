package brokered

import (
	"sync/atomic"
	"time"

	"posta.dev/posta/link"
)

// Outgoing is the sending end of a link, or of all links of a pub edge: the queue of frames to publish, and the pacing of hellos.
type Outgoing struct {
	*sendQueue
	Edge      string
	To        link.NodeID // the receiver; "" on a pub edge, where all receivers get the same message
	Receivers []link.NodeID
	hellos    map[link.NodeID]*helloPacer // by receiver
	connected atomic.Bool
}

// newOutgoing returns a sending end with space for this many bytes.
func newOutgoing(edge string, to link.NodeID, capacity int, receivers ...link.NodeID) *Outgoing {
	o := &Outgoing{sendQueue: newSendQueue(capacity), Edge: edge, To: to, Receivers: receivers, hellos: map[link.NodeID]*helloPacer{}}
	for _, n := range receivers {
		o.hellos[n] = &helloPacer{}
	}
	return o
}

// offer takes frames, and after them hellos, from the node's loop, and returns how many it took. A hello that comes too soon is dropped,
// because the link repeats it. Without a connection all hellos are dropped.
func (o *Outgoing) offer(frames []link.Frame, now time.Time) int {
	numbered := frames
	for n := len(numbered); n > 0 && numbered[n-1].Kind == link.Hello; n = len(numbered) {
		numbered = numbered[:n-1]
	}
	took := o.sendQueue.offer(numbered)
	if took < len(numbered) || !o.connected.Load() {
		return took // a hello must not overtake frames
	}
	for _, f := range frames[len(numbered):] {
		g, err := link.DecodeHello(f.Payload)
		if err != nil {
			continue // it is ours
		}
		if p := o.hellos[g.To]; p != nil && p.may(now) {
			o.sendQueue.offer([]link.Frame{f})
		}
	}
	return len(frames)
}

// heard sees each acknowledgement before the node does.
func (o *Outgoing) heard(a link.Ack) {
	if p := o.hellos[a.Receiver]; p != nil {
		p.Heard(a)
	}
}

// begin drops frames that waited for the connection before.
func (o *Outgoing) begin() {
	o.Clear()
	o.connected.Store(true)
	for _, p := range o.hellos {
		p.Connected()
	}
}

// End reports that the connection is gone.
func (o *Outgoing) End() { o.connected.Store(false) }

// HandedOver reports whether the broker was given everything.
func (o *Outgoing) HandedOver() bool { return !o.connected.Load() || o.Empty() }
