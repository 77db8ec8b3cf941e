package core

import (
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// outEdge is an edge that starts here: one outbox for each receiver, or one for all of them (R10).
type outEdge struct {
	cfg      OutEdge
	outboxes []*outbox
	window   int
	sticky   int // the outbox that route "any" stays with
}

// outbox holds the frames for a receiver of an edge, or for all of them, that are not acknowledged.
type outbox struct {
	*link.Sender
	outboxKey
	index int // among the outboxes of the node
	trip  roundTrip
}

// outboxKey names an outbox as records do; to is empty where one outbox serves all receivers.
type outboxKey struct {
	edge string
	to   link.NodeID
}

// progress returns what a record says of an outbox.
func (o *outbox) progress() link.Progress {
	p := o.Progress()
	p.To = o.to
	return p
}

// takeBytes bounds the bytes that one Output sends to one receiver, so that the loop soon returns to its inputs.
const takeBytes = 4 << 20

// newOutEdge returns an edge whose outboxes are numbered from first on.
func newOutEdge(cfg Config, e OutEdge, first int) *outEdge {
	o := &outEdge{cfg: e, window: cfg.Window}
	add := func(to link.NodeID, receivers ...link.NodeID) {
		o.outboxes = append(o.outboxes, &outbox{link.NewSender(link.Link{Edge: e.Name, From: cfg.Self, To: to}, cfg.ID, cfg.Window,
			receivers...), outboxKey{e.Name, to}, first + len(o.outboxes), roundTrip{}})
	}
	if e.Route == topology.All {
		add("", e.To...)
		return o
	}
	for _, to := range e.To {
		add(to, to)
	}
	o.sticky = cfg.Replica.Index % max(1, len(o.outboxes)) // senders side by side begin with different receivers
	return o
}

// carries reports whether such a stream travels on the edge.
func (e *outEdge) carries(reference bool) bool { return carries(e.cfg.Streams, reference) }

// pick returns the outbox for data: the session's, the partition's, the only one, or, on route "any", the one it stays with.
func (e *outEdge) pick(id session.ID, partition int) *outbox {
	switch {
	case e.cfg.Route == topology.Hash && e.cfg.Key == topology.SessionKey:
		return e.outboxes[role.Partition(id, len(e.outboxes))]
	case e.cfg.Route == topology.Hash:
		return e.outboxes[partition%len(e.outboxes)]
	case e.cfg.Route == topology.All:
		return e.outboxes[0]
	}
	return e.stickyOutbox()
}

// stickyOutbox returns the outbox that route "any" stays with: the same one until half of its window is taken, then the one with most room.
// What goes to one receiver is folded there into one table, which crosses to the next stage once, and costs one commit and one wake-up.
// Rejected: to deal frames out in turn. With two receivers that keep up easily, all of this is paid twice, for no gain. The window of a
// receiver that does not keep up is soon half full, and from then on each receiver gets what it can take (R9).
func (e *outEdge) stickyOutbox() *outbox {
	if e.outboxes[e.sticky].WindowLeft() <= e.window/2 {
		for i, o := range e.outboxes {
			if o.WindowLeft() > e.outboxes[e.sticky].WindowLeft() {
				e.sticky = i
			}
		}
	}
	return e.outboxes[e.sticky]
}

// partitions returns how many receivers the groups of a session are spread over. On an edge whose key is the session itself they
// stay together.
func (e *outEdge) partitions() int {
	if e.cfg.Route == topology.Hash && e.cfg.Key != topology.SessionKey {
		return len(e.outboxes)
	}
	return 1
}

// room reports whether data may be produced for the edge: one open window is enough for "any", all must be open for the
// others (R9).
func (e *outEdge) room() bool {
	for _, o := range e.outboxes {
		open := o.WindowLeft() > 0
		if open && e.cfg.Route == topology.Any {
			return true
		}
		if !open && e.cfg.Route != topology.Any {
			return false
		}
	}
	return e.cfg.Route != topology.Any
}

// output appends the frames and hellos that may leave now. Without frames it appends hellos alone.
func (e *outEdge) output(sends []Send, frames bool, now time.Time, pace link.Pace) []Send {
	for _, o := range e.outboxes {
		if e.cfg.Broadcast {
			sends = e.broadcast(sends, o, frames, now, pace)
			continue
		}
		for _, p := range o.Peers() {
			var all []link.Frame
			if frames {
				all = o.Take(p, takeBytes)
				o.trip.begin(all, now)
			}
			if all = o.words(all, p, now, pace); len(all) > 0 {
				sends = append(sends, Send{e.cfg.Name, p, all})
			}
		}
	}
	return sends
}

// broadcast appends one message that reaches all receivers, with a hello for each of them that needs one. A receiver ignores the others'
// hellos.
func (e *outEdge) broadcast(sends []Send, o *outbox, frames bool, now time.Time, pace link.Pace) []Send {
	var all []link.Frame
	if frames {
		all = o.TakeAll(takeBytes)
		o.trip.begin(all, now)
	}
	for _, p := range o.Peers() {
		all = o.words(all, p, now, pace)
	}
	if len(all) > 0 {
		sends = append(sends, Send{e.cfg.Name, "", all})
	}
	return sends
}

// words appends what a receiver needs beside frames: a hello, or the notice that its life is superseded.
func (o *outbox) words(frames []link.Frame, to link.NodeID, now time.Time, pace link.Pace) []link.Frame {
	if h, ok := o.Hello(to, now, pace.Hello); ok {
		frames = append(frames, h)
	}
	if h, ok := o.Rejection(to, now, pace.Ask); ok {
		frames = append(frames, h)
	}
	return frames
}
