package shell

import (
	"log/slog"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/wal"
)

// Config is what a shell is made of. All of it comes from the topology, but for Core.ID, Core.Watch, Lost and Again.
type Config struct {
	Core      core.Config
	Snapshot  int64         // bytes of log between two snapshots, at least (limits.snapshot)
	Drain     time.Duration // how long a node that is told to stop still sends what it has stored (limits.drain)
	Heartbeat time.Duration // between two heartbeats (medics.heartbeat)
	Outputs   []string      // endpoints that a client with a question for an output is told
	Dir       string        // of the log, for messages
	// Lost is the sessions that the node's lives before have died of. They are aborted before anything is taken in, and recovery does not
	// rebuild what it would die of again (N9).
	Lost []Loss
	// Again says that this process has retired a log already. It does so once: see retire.
	Again bool
}

// Loss is a session that a node cannot work on, and why; the reason is for the session's client.
type Loss struct {
	Session session.ID
	Reason  string
}

// Shell is a node without its sockets, its disk and its clock. One goroutine owns it.
type Shell struct {
	cfg     Config
	core    *core.Core
	started time.Time
	flush   flushTimer

	// The one job that may be under way, and the one that found the disk full and is repeated at retryAt.
	busy    bool
	failed  *Job
	retryAt time.Time // nothing that needs room on the disk is tried before
	full    error     // a job found the disk full, or no file descriptor, and what it did not do is not done yet, or its reserve is not whole since; nil otherwise
	unsaved bool      // that is a snapshot: a commit that finds room, since it is smaller, proves nothing
	short   bool      // the log has spent some of its reserve

	// The log as far as the shell has to know it.
	last     wal.Index // the last record
	snapAt   wal.Index // the last snapshot
	snapSize int64     // its bytes
	logBytes int64
	sinceCut int64 // bytes appended since the last snapshot
	lastCut  time.Time
	idleAt   time.Time // since when nothing has been under way; zero while something is
	heir     bool      // what the log before left is beside this one, and goes with the first commit that is stored (R14)

	lost bool // the sessions of Config.Lost are aborted, and that is not durable yet

	draining   bool
	drainUntil time.Time
	retiring   bool  // the log is to be put aside, and that has been said
	retired    bool  // it is put aside
	failure    error // final (W4)

	beatAt     time.Time // of the last heartbeat; zero: one is due
	reportedAt time.Time // when something that was not believed was last reported
	alarm      time.Time // of the step under way
	refusals   []core.Reply
	notes      []Note
}

// Note is something for the node's log.
type Note struct {
	Level slog.Level
	Text  string
	Args  []any // as of slog
}

// New returns the shell of a node that has stored nothing yet; Recover brings it to where its log ends.
func New(cfg Config, now time.Time) (*Shell, error) {
	c, err := core.New(cfg.Core)
	if err != nil {
		return nil, err
	}
	return &Shell{cfg: cfg, core: c, started: now}, nil
}

// Core is the shell's core, to be looked at. It is exported for the simulator (test/sim), which compares cores with what it knows of them.
func (s *Shell) Core() *core.Core { return s.core }

// Event takes something that the transport has to say. A node that drains takes no more frames; acknowledgements and connections still help.
func (s *Shell) Event(now time.Time, e link.Event) {
	switch {
	case e.Frames != nil:
		if !s.draining {
			s.core.Receive(e.Frames)
		}
	case e.Acks != nil:
		for _, a := range e.Acks {
			s.core.Ack(a, now)
		}
	case e.Connected && e.Incoming:
		s.core.Dialled(e.Edge, e.Node)
	case e.Connected:
		s.core.Connected(e.Edge, e.Node)
	case e.Heartbeat != nil:
		b, err := heartbeat.Decode(e.Heartbeat)
		if err != nil || b.Node != e.Node {
			return // not one of ours
		}
		if b.State == heartbeat.Recovering {
			return // it has nothing to tell yet, and while it opens its log not even its log's id (N9)
		}
		s.core.Heartbeat(now, b.Heard())
	}
}

// Prepare returns work on requests that may be done side by side before they are handed to Requests; see core.Prepare.
func (s *Shell) Prepare(requests []role.Request) []func() {
	if s.draining {
		return nil
	}
	return s.core.Prepare(requests)
}

// Requests takes requests of clients. A node that drains takes none: its clients ask again.
func (s *Shell) Requests(now time.Time, requests []role.Request) {
	if s.draining {
		return
	}
	s.flush.asked = now
	for i := range requests {
		if r := &requests[i]; !s.core.Request(now, r) {
			refusal := protocol.Refuse(protocol.ErrWrongNode, "this node has no results; ask an output")
			refusal.Outputs = s.cfg.Outputs
			s.refusals = append(s.refusals, core.Reply{To: r.From, Body: refusal.Append(nil)})
		}
	}
}

// Unsent says that the transport did not accept a frame of Output.Sends and those after it.
func (s *Shell) Unsent(edge string, to link.NodeID, from link.Seq) { s.core.Unsent(edge, to, from) }

// note adds a line to the node's log.
func (s *Shell) note(level slog.Level, text string, args ...any) {
	s.notes = append(s.notes, Note{level, text, args})
}

// wakeAt sees to it that Step is called at a time, or earlier.
func (s *Shell) wakeAt(at time.Time) {
	if at.Before(s.alarm) {
		s.alarm = at
	}
}
