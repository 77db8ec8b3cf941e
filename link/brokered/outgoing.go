package brokered

import (
	"sync/atomic"
	"time"

	"posta.dev/posta/link"
)

// Outgoing is the sending end of a link, or of all links of a pub edge: the queue of frames to publish, and the pacing of hellos.
type Outgoing struct {
	*SendQueue
	Edge      string
	To        link.NodeID // the receiver; "" on a pub edge, where all receivers get the same message
	receivers []receiver
	connected atomic.Bool
}

type receiver struct {
	node   link.NodeID
	hellos *HelloPacer
}

// newOutgoing has space for that many bytes.
func newOutgoing(edge string, to link.NodeID, capacity int, receivers ...link.NodeID) *Outgoing {
	o := &Outgoing{SendQueue: NewSendQueue(capacity), Edge: edge, To: to}
	for _, n := range receivers {
		o.receivers = append(o.receivers, receiver{n, &HelloPacer{}})
	}
	return o
}

// Receivers are the nodes at the other ends.
func (o *Outgoing) Receivers() (nodes []link.NodeID) {
	for _, r := range o.receivers {
		nodes = append(nodes, r.node)
	}
	return nodes
}

func (o *Outgoing) hellosTo(node link.NodeID) *HelloPacer {
	for _, r := range o.receivers {
		if r.node == node {
			return r.hellos
		}
	}
	return nil
}

// Offer takes frames, and behind them hellos, from the node's loop, and returns how many. A hello whose time has not come is dropped: it is
// due again by itself. While there is no connection none is worth keeping.
func (o *Outgoing) Offer(frames []link.Frame, now time.Time) int {
	numbered := frames
	for n := len(numbered); n > 0 && numbered[n-1].Kind == link.Hello; n = len(numbered) {
		numbered = numbered[:n-1]
	}
	took := o.SendQueue.Offer(numbered)
	if took < len(numbered) || !o.connected.Load() {
		return took // a hello must not run ahead of frames
	}
	for _, f := range frames[len(numbered):] {
		g, err := link.DecodeHello(f.Payload)
		if err != nil {
			continue // it is ours
		}
		if p := o.hellosTo(g.To); p != nil && p.May(now) {
			o.SendQueue.Offer([]link.Frame{f})
		}
	}
	return len(frames)
}

// heard takes an acknowledgement before the node does.
func (o *Outgoing) heard(a link.Ack) {
	if p := o.hellosTo(a.Receiver); p != nil {
		p.Heard(a)
	}
}

// begin forgets what waited for a connection that is gone. The links to the receivers that it returns begin again.
func (o *Outgoing) begin() []link.NodeID {
	o.Clear()
	o.connected.Store(true)
	for _, r := range o.receivers {
		r.hellos.Connected()
	}
	return o.Receivers()
}

// End says that the connection is gone.
func (o *Outgoing) End() { o.connected.Store(false) }

// HandedOver reports whether nothing waits that could leave.
func (o *Outgoing) HandedOver() bool { return !o.connected.Load() || o.Empty() }
