package core

import (
	"fmt"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
)

// build is the commit that is being built while another one is being stored (N1).
type build struct {
	rec     record.Record // its inputs and frames so far, in the order in which they happened
	bytes   int           // of frames taken, calls recorded, frames produced; Advance stops at limits.commit
	links   []*inLink     // whose hwm moved, each once
	dirty   []*sess       // whose roles may have something to flush, each once
	replies []Reply       // that may leave when this commit is stored
	control bool          // a session began, ended a stream, or failed
	leaves  bool          // a session leaves this node

	newLog bool // see Commit.NewLog
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
	return len(b.links) == 0 && len(b.dirty) == 0 && len(b.rec.Inputs) == 0 && len(b.rec.Frames) == 0 && !b.newLog
}

// Commit is one record to store: hwms moved, calls that changed state, frames produced (N2, R5).
type Commit struct {
	Parts [][]byte // of the record, written one after the other; they are not changed any more
	Bytes int

	// NewLog: it is the first commit that says that a receiver has come with another log. Acknowledgements do not need a commit of their own,
	// but a receiver's new log does. If the log were cut as far as the new log has acknowledged, and still said that the old log did, a
	// restart would fail sessions that lost nothing (R8). So nothing is cut before this commit is stored.
	NewLog bool

	leaves   bool // a session leaves this node with it
	replies  []Reply
	hwms     []link.Hwm
	progress []link.Progress // of every outbox, in the core's order
}

func (c *Commit) String() string { return fmt.Sprintf("commit of %d bytes", c.Bytes) }

// Pending reports whether Seal would return a commit.
func (c *Core) Pending() bool { return !c.build.empty() || len(c.build.replies) > 0 }

// FlushUrgency says how long the commit that is being built may wait for more input. Fewer commits cost less: each needs an fsync, a
// wake-up here and one in every receiver. Rows that are folded within one commit also travel only once.
type FlushUrgency int

const (
	// FlushNothing: there is nothing to store.
	FlushNothing FlushUrgency = iota
	// FlushLater: the commit holds data alone. Senders continue without its acknowledgement as far as their windows reach.
	FlushLater
	// FlushSoon: a client waits for a reply, and may have more to send before it gets it.
	FlushSoon
	// FlushNow: half of limits.commit is taken, and the other half is needed for input while this commit is stored. Or half of a window is
	// taken, and its sender would soon stop because it gets no acknowledgement. Or a session begins, ends a stream, or fails, and every
	// later stage waits for that.
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
func (c *Core) Seal() *Commit { return c.seal(c.cfg.Tables, false) }

// SealForSnapshot is Seal for a commit that a snapshot follows. Tables of more than half of limits.tables move to files first. A snapshot
// is in memory as a whole, beside the tables, so it would take as much memory as they do. The files have to be written only once, snapshots
// again and again.
func (c *Core) SealForSnapshot() *Commit { return c.seal(c.cfg.Tables/2, true) }

func (c *Core) seal(tables int, snapshot bool) *Commit {
	if c.inflight != nil {
		panic("N2: a commit is sealed while another one is being stored")
	}
	if c.retired != "" {
		return nil
	}
	c.flushAll()
	if snapshot || !c.build.empty() { // with nothing to store, no state has grown
		c.shareMemory()
		c.spill(tables)
	}
	if c.build.empty() {
		c.replies = append(c.replies, c.build.replies...) // what they wait for is stored already
		c.build.replies = nil
		return nil
	}
	b := c.build
	c.build = build{}
	commit := &Commit{NewLog: b.newLog, leaves: b.leaves, replies: b.replies, progress: c.progress()}
	for _, l := range b.links {
		commit.hwms = append(commit.hwms, l.recv.Hwm())
	}
	b.rec.Life = c.cfg.ID.Life
	b.rec.Hwms = commit.hwms
	b.rec.Progress = commit.progress
	commit.Parts = b.rec.Encode()
	for _, p := range commit.Parts {
		commit.Bytes += len(p)
	}
	c.build.rec = b.rec.Emptied()
	c.cfg.Trace.Sealed()
	c.inflight = commit
	return commit
}

// flushAll lets the roles emit what they have folded for this commit.
func (c *Core) flushAll() {
	for i := 0; i < len(c.build.dirty); i++ { // a flush may touch further sessions
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

// Stored reports that a commit is on disk, at the given index of the log. Its frames may leave now, its hwms are
// acknowledged, its replies go out (R3). Config.Trace has been told how long the fsyncs took.
func (c *Core) Stored(commit *Commit, at link.LogIndex) {
	if c.inflight != commit {
		panic("N2: a commit is reported stored that is not being stored")
	}
	c.inflight = nil
	c.Counters.Commits++
	c.cfg.Trace.Stored()
	for _, h := range commit.hwms {
		c.in[linkKey{h.Edge, h.From}].recv.Stored(h)
	}
	for i, o := range c.outboxes {
		o.Stored(commit.progress[i].Last, at)
	}
	c.replies = append(c.replies, commit.replies...)
}
