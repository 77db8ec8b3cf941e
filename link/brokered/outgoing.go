package brokered

import (
	"sync/atomic"
	"time"

	"posta.dev/posta/link"
)

// Outgoing is the sending end of a link, or of all links of a broadcast edge: the queue of frames to publish, and the pacing of hellos.
type Outgoing struct {
	*SendQueue
	receivers []receiver
	connected atomic.Bool
}

type receiver struct {
	node   link.NodeID
	hellos *HelloPacer
}

// NewOutgoing has space for that many bytes.
func NewOutgoing(room int, to ...link.NodeID) *Outgoing {
	o := &Outgoing{SendQueue: NewSendQueue(room)}
	for _, n := range to {
		o.receivers = append(o.receivers, receiver{n, &HelloPacer{}})
	}
	return o
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

// Heard takes an acknowledgement before the node does.
func (o *Outgoing) Heard(a link.Ack) {
	if p := o.hellosTo(a.Receiver); p != nil {
		p.Heard(a)
	}
}

// Begin forgets what waited for a connection that is gone. The links to the receivers that it returns begin again.
func (o *Outgoing) Begin() (nodes []link.NodeID) {
	o.Clear()
	o.connected.Store(true)
	for _, r := range o.receivers {
		r.hellos.Connected()
		nodes = append(nodes, r.node)
	}
	return nodes
}

// End says that the connection is gone.
func (o *Outgoing) End() { o.connected.Store(false) }

// HandedOver reports whether nothing waits that could leave.
func (o *Outgoing) HandedOver() bool { return !o.connected.Load() || o.Empty() }
