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
	cfg     OutEdge
	senders []*link.Sender
	window  int
	at      int // the receiver that route "any" stays with
}

// takeBytes bounds what one Output puts on the way to one receiver, so that the loop comes back to its inputs.
const takeBytes = 4 << 20

func newOutEdge(cfg Config, e OutEdge) *outEdge {
	o := &outEdge{cfg: e, window: cfg.Window}
	if e.Route == topology.All {
		o.senders = []*link.Sender{link.NewSender(e.Name, cfg.Self, cfg.ID, cfg.Window, e.To...)}
		return o
	}
	for _, to := range e.To {
		o.senders = append(o.senders, link.NewSender(e.Name, cfg.Self, cfg.ID, cfg.Window, to))
	}
	o.at = cfg.Replica.Index % max(1, len(o.senders)) // senders side by side begin with different receivers
	return o
}

// pick returns the outbox for data: the session's, the partition's, the only one, or, on route "any", the one it stays with.
func (e *outEdge) pick(id session.ID, partition int) *link.Sender {
	switch {
	case e.cfg.Route == topology.Hash && e.cfg.Key == topology.SessionKey:
		return e.senders[role.Partition(id, len(e.senders))]
	case e.cfg.Route == topology.Hash:
		return e.senders[partition%len(e.senders)]
	case e.cfg.Route == topology.All:
		return e.senders[0]
	}
	return e.senders[e.stickyReceiver()]
}

// stickyReceiver returns the receiver that route "any" stays with: the same one until half of its window is taken, then the one with most room.
// What goes to one receiver is folded there into one table, which crosses to the next stage once, and costs one commit and one
// wake-up. To deal frames out in turn was turned down: with two receivers that keep up easily it is all of that twice, for no gain.
// One that does not keep up has its half window soon, and from then on each takes what it can (R9).
func (e *outEdge) stickyReceiver() int {
	if e.senders[e.at].WindowLeft() > e.window/2 {
		return e.at
	}
	for i, s := range e.senders {
		if s.WindowLeft() > e.senders[e.at].WindowLeft() {
			e.at = i
		}
	}
	return e.at
}

// partitions is how many receivers the groups of a session are spread over. On an edge whose key is the session itself they
// stay together.
func (e *outEdge) partitions() int {
	if e.cfg.Route == topology.Hash && e.cfg.Key != topology.SessionKey {
		return len(e.senders)
	}
	return 1
}

// room reports whether data may be produced for the edge: one open window is enough for "any", all must be open for the
// others (R9).
func (e *outEdge) room() bool {
	for _, s := range e.senders {
		open := s.WindowLeft() > 0
		if open && e.cfg.Route == topology.Any {
			return true
		}
		if !open && e.cfg.Route != topology.Any {
			return false
		}
	}
	return e.cfg.Route != topology.Any
}

// to is how a sender's receiver is named in records: empty where the outbox serves all.
func (e *outEdge) to(s *link.Sender) link.NodeID {
	if e.cfg.Route == topology.All {
		return ""
	}
	return s.Peers()[0]
}

// progress is what a record says of an outbox.
func (e *outEdge) progress(s *link.Sender) link.Progress {
	p := s.Progress()
	p.To = e.to(s)
	return p
}

func (e *outEdge) sender(to link.NodeID) *link.Sender {
	for _, s := range e.senders {
		if e.to(s) == to {
			return s
		}
	}
	return nil
}

// ack returns what the receiver has lost with its disk, nil if it has not lost any. One sender of an edge knows the receiver.
func (e *outEdge) ack(a link.Ack, now time.Time) (lost *link.LostLog) {
	for _, s := range e.senders {
		if l := s.Ack(a, now); l != nil {
			lost = l
		}
	}
	return lost
}

func (e *outEdge) unsend(to link.NodeID, from link.Seq) {
	for _, s := range e.senders {
		for _, p := range s.Peers() {
			if p == to || to == "" {
				s.Unsend(p, from)
			}
		}
	}
}

func (e *outEdge) output(sends []Send, now time.Time, pace link.Pace) []Send {
	for _, s := range e.senders {
		if e.cfg.Broadcast {
			sends = e.broadcast(sends, s, now, pace)
			continue
		}
		for _, p := range s.Peers() {
			frames := s.Take(p, takeBytes)
			if h, ok := s.Hello(p, now, pace.Hello); ok {
				frames = append(frames, h)
			}
			if len(frames) > 0 {
				sends = append(sends, Send{e.cfg.Name, p, frames})
			}
		}
	}
	return sends
}

// broadcast has one hello for all: those who know more than it says ignore it.
func (e *outEdge) broadcast(sends []Send, s *link.Sender, now time.Time, pace link.Pace) []Send {
	frames := s.TakeAll(takeBytes)
	for _, p := range s.Peers() {
		if h, ok := s.Hello(p, now, pace.Hello); ok {
			frames = append(frames, h)
		}
	}
	if len(frames) > 0 {
		sends = append(sends, Send{e.cfg.Name, "", frames})
	}
	return sends
}
