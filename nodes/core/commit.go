package core

import (
	"fmt"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// build is the commit that is being built while another one is being stored (N1).
type build struct {
	rec     record.Record
	bytes   int
	links   []*inLink // whose hwm moved
	dirty   []*sess   // whose roles may have something to flush
	replies []Reply
	control bool // a session began, ended a stream, or failed
}

func (b *build) moved(l *inLink) {
	if !slices.Contains(b.links, l) {
		b.links = append(b.links, l)
	}
}

func (b *build) touch(s *sess) {
	if !slices.Contains(b.dirty, s) {
		b.dirty = append(b.dirty, s)
	}
}

func (b *build) empty() bool {
	return len(b.links) == 0 && len(b.dirty) == 0 && len(b.rec.Inputs) == 0 && len(b.rec.Frames) == 0
}

// Commit is one record to store: hwms moved, calls that changed state, frames produced (N2, R5).
type Commit struct {
	Parts   [][]byte // of the record, to be gathered; they are not changed any more
	Bytes   int
	replies []Reply
	hwms    []link.Hwm
	last    []lastFrame
}

type lastFrame struct {
	sender *link.Sender
	seq    link.Seq
}

// Pending reports whether Seal would return a commit.
func (c *Core) Pending() bool { return !c.build.empty() || len(c.build.replies) > 0 }

// FlushUrgency says how long the commit that is being built may wait for more input. Each commit costs an fsync, a wake-up here and
// one in every receiver, and what is folded within one commit travels once.
type FlushUrgency int

const (
	// FlushNothing: there is nothing to store.
	FlushNothing FlushUrgency = iota
	// FlushLater: the commit holds data alone. Senders go on without its acknowledgement as far as their windows reach.
	FlushLater
	// FlushSoon: a client waits for a reply, and may have more to send before it gets it.
	FlushSoon
	// FlushNow: half of limits.commit is taken, and the other half must have room while this commit is stored. Or half of a window is
	// taken, and its sender would soon stop for want of an acknowledgement. Or a session begins, ends a stream, or fails: what follows
	// waits for that in every stage.
	FlushNow
)

// Urgency returns how urgent the commit is that is being built.
func (c *Core) Urgency() FlushUrgency {
	switch {
	case !c.Pending():
		return FlushNothing
	case c.build.control || c.build.bytes >= min(c.cfg.Commit, c.cfg.Window)/2:
		return FlushNow
	case len(c.build.replies) > 0:
		return FlushSoon
	}
	return FlushLater
}

// Seal closes the commit that is being built and returns it, or nil if there is nothing to store. It is not called while
// another commit is being stored.
func (c *Core) Seal() *Commit {
	if c.inflight != nil {
		panic("N2: a commit is sealed while another one is being stored")
	}
	c.flushAll()
	if c.build.empty() {
		c.replies = append(c.replies, c.build.replies...) // what they wait for is stored already
		c.build.replies = nil
		return nil
	}
	b := c.build
	c.build = build{}
	commit := &Commit{replies: b.replies}
	for _, l := range b.links {
		commit.hwms = append(commit.hwms, l.recv.Hwm())
	}
	b.rec.Hwms = commit.hwms
	for _, e := range c.out {
		for _, s := range e.senders {
			b.rec.Progress = append(b.rec.Progress, e.progress(s))
			commit.last = append(commit.last, lastFrame{s, s.Last()})
		}
	}
	commit.Parts = b.rec.Encode()
	for _, p := range commit.Parts {
		commit.Bytes += len(p)
	}
	c.build.rec = b.rec.Emptied()
	c.inflight = commit
	return commit
}

// flushAll lets the roles emit what they have folded for this commit.
func (c *Core) flushAll() {
	for i := 0; i < len(c.build.dirty); i++ {
		s := c.build.dirty[i]
		if c.sessions[s.ID] != s {
			continue
		}
		for r := range c.cfg.Roles {
			c.flush(s, r)
		}
		c.settle(s)
	}
}

// Stored says that a commit is on disk, as the record at the given log index. Its frames may leave now, its hwms are
// acknowledged, its replies go out (R3).
func (c *Core) Stored(commit *Commit, at link.LogIndex) {
	if c.inflight != commit {
		panic("N2: a commit is reported stored that is not being stored")
	}
	c.inflight = nil
	c.Counters.Commits++
	for _, h := range commit.hwms {
		c.in[linkKey{h.Edge, h.From}].recv.Stored(h)
	}
	for _, l := range commit.last {
		l.sender.Stored(l.seq, at)
	}
	c.replies = append(c.replies, commit.replies...)
}

// Oldest returns the log index of the oldest frame that a peer has not acknowledged: the log must not be cut beyond it (N3).
func (c *Core) Oldest() (link.LogIndex, bool) {
	oldest, found := link.LogIndex(0), false
	for _, e := range c.out {
		for _, s := range e.senders {
			if p, ok := s.Oldest(); ok && (!found || p < oldest) {
				oldest, found = p, true
			}
		}
	}
	return oldest, found
}

// Idle reports whether nothing waits to be stored, sent or acknowledged.
func (c *Core) Idle() bool {
	if c.inflight != nil || c.Pending() || len(c.replies) > 0 {
		return false
	}
	for _, e := range c.out {
		for _, s := range e.senders {
			if _, frames := s.Backlog(); frames > 0 {
				return false
			}
		}
	}
	return true
}

// Backlog is what one outgoing link has not seen acknowledged.
type Backlog struct {
	Edge  string
	To    link.NodeID // empty where one outbox serves all
	Bytes int
	Full  bool
}

// Backlogs returns the backlog of every outgoing link (N8).
func (c *Core) Backlogs() []Backlog {
	var all []Backlog
	for _, e := range c.out {
		for _, s := range e.senders {
			bytes, _ := s.Backlog()
			all = append(all, Backlog{Edge: e.cfg.Name, To: e.to(s), Bytes: bytes, Full: s.WindowLeft() <= 0})
		}
	}
	return all
}

// Sessions is how many sessions have state in this node.
func (c *Core) Sessions() int { return len(c.sessions) }

func (c *Commit) String() string { return fmt.Sprintf("commit of %d bytes", c.Bytes) }

// Sendable reports whether a receiver that is there still lacks durable frames.
func (c *Core) Sendable() bool {
	for _, e := range c.out {
		for _, s := range e.senders {
			if s.Sendable() {
				return true
			}
		}
	}
	return len(c.replies) > 0
}

// Running is how many sessions hold a place in this node's gateways.
func (c *Core) Running() int {
	n := 0
	for _, r := range c.cfg.Roles {
		if g, ok := r.(role.Gateway); ok {
			n += g.Running()
		}
	}
	return n
}

// Ended is what this node's outputs tell of sessions that need no more uploading.
func (c *Core) Ended() []role.Ended {
	var all []role.Ended
	for _, r := range c.cfg.Roles {
		if t, ok := r.(role.EndReporter); ok {
			all = append(all, t.Ended()...)
		}
	}
	return all
}
