package core

import (
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Counters count since the node started.
type Counters struct {
	FramesIn, FramesOut uint64
	BytesIn, BytesOut   uint64
	Duplicates, Gaps    uint64
	Zombies, Unknown    uint64
	Refused             uint64 // messages with an identity that was not believed (M10)
	Damaged             uint64 // frames that have changed since they were made, or belong to another link (R18)
	Commits             uint64
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

// Sendable reports whether a receiver that has reported its hwm still lacks durable frames, or a client still lacks its reply.
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

// Running returns how many sessions hold a place in this node's gateways.
func (c *Core) Running() int {
	n := 0
	for _, g := range c.gateways {
		n += g.Running()
	}
	return n
}

// Ended returns the sessions that need no more uploading, as this node's outputs report them in the next heartbeat.
func (c *Core) Ended() []role.Ended {
	return c.reported(func(r role.EndReporter) []role.Ended { return r.Ended(role.EndedBytes) })
}

// endOf returns what this node's outputs report about the given sessions, which its inputs hold. Rejected: to return everything that the
// outputs keep, because to list that at each step costs more than the step.
func (c *Core) endOf(ids []session.ID) []role.Ended {
	if len(ids) == 0 {
		return nil
	}
	return c.reported(func(r role.EndReporter) []role.Ended { return r.EndOf(ids) })
}

func (c *Core) reported(by func(role.EndReporter) []role.Ended) (all []role.Ended) {
	for _, g := range c.gateways {
		if r, ok := g.(role.EndReporter); ok {
			all = append(all, by(r)...)
		}
	}
	return all
}

// DiskFull says whether the last commit found no room on the disk (W5).
func (c *Core) DiskFull(full bool) {
	if c.full = full; full {
		c.failUnsaved()
	}
}

// LetsCut reports whether a commit that is not stored yet keeps the log from being cut, which would make room on a disk that is full of
// this log (W5): with it a session leaves this node, or it says that a receiver has another log.
func (c *Core) LetsCut() bool {
	return c.build.leaves || c.build.newLog || c.inflight != nil && (c.inflight.leaves || c.inflight.NewLog)
}

// NewLog reports whether a receiver has come with another log, and no commit that was sealed says so yet: see Commit.NewLog.
func (c *Core) NewLog() bool { return c.build.newLog }

// Waiting returns the sessions whose facts are first in a link's queue here and wait for the end of their reference data (R11). Everything
// behind them in the queue waits, too. At most maxWaiting sessions are returned.
func (c *Core) Waiting() (all []session.ID) {
	if !c.cfg.Joiner {
		return nil
	}
	for _, l := range c.inOrder {
		f := l.peek()
		if f == nil || f.Kind != link.Data && f.Kind != link.End || len(all) == maxWaiting {
			continue
		}
		s := c.sessions[f.Session]
		if s != nil && f.Stream < len(s.ended) && !s.reference(f.Stream) && !s.ready() && !slices.Contains(all, s.ID) {
			all = append(all, s.ID)
		}
	}
	return all
}

const maxWaiting = 64 // sessions
