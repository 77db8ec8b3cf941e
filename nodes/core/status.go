package core

import (
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
)

// Counters count since the node started.
type Counters struct {
	FramesIn, FramesOut uint64
	BytesIn, BytesOut   uint64
	Duplicates, Gaps    uint64
	Zombies, Unknown    uint64
	Refused             uint64 // not believed (M10)
	Commits             uint64
}

// dropped counts a frame that its link does not take.
func (n *Counters) dropped(v link.Verdict) {
	switch v {
	case link.Duplicate:
		n.Duplicates++
	case link.Gap:
		n.Gaps++
	case link.Zombie:
		n.Zombies++
	case link.Unknown:
		n.Unknown++
	}
}

// Idle reports whether nothing waits to be stored, sent or acknowledged.
func (c *Core) Idle() bool {
	if c.inflight != nil || c.Pending() || len(c.replies) > 0 {
		return false
	}
	for _, o := range c.outboxes {
		if _, frames := o.Backlog(); frames > 0 {
			return false
		}
	}
	return true
}

// Sendable reports whether a receiver that is there still lacks durable frames, or a client its reply.
func (c *Core) Sendable() bool {
	for _, o := range c.outboxes {
		if c.confirmed && o.Sendable() {
			return true
		}
	}
	return len(c.replies) > 0
}

// Oldest returns the log index of the oldest frame that a receiver has not acknowledged: the log must not be cut beyond it (N3).
func (c *Core) Oldest() (link.LogIndex, bool) {
	oldest, found := link.LogIndex(0), false
	for _, o := range c.outboxes {
		if p, ok := o.Oldest(); ok && (!found || p < oldest) {
			oldest, found = p, true
		}
	}
	return oldest, found
}

// Links returns the backlog of every outgoing link (N8).
func (c *Core) Links() []heartbeat.Link {
	all := make([]heartbeat.Link, len(c.outboxes))
	for i, o := range c.outboxes {
		bytes, _ := o.Backlog()
		all[i] = heartbeat.Link{Edge: o.edge, To: o.to, Bytes: uint64(max(0, bytes)), Full: o.WindowLeft() <= 0}
	}
	return all
}

// Sessions is how many sessions have state in this node.
func (c *Core) Sessions() int { return len(c.sessions) }

// Running is how many sessions hold a place in this node's gateways.
func (c *Core) Running() int {
	n := 0
	for _, g := range c.gateways {
		n += g.Running()
	}
	return n
}

// Ended is what this node's outputs report in the next heartbeat of sessions that need no more uploading.
func (c *Core) Ended() []role.Ended { return c.ended(role.EndedBytes) }

func (c *Core) ended(limit int) []role.Ended {
	var all []role.Ended
	for _, g := range c.gateways {
		if r, ok := g.(role.EndReporter); ok {
			all = append(all, r.Ended(limit)...)
		}
	}
	return all
}
