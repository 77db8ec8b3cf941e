package shell

import (
	"log/slog"
	"slices"
	"time"

	"posta.dev/posta/internal/histogram"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/wal"
)

// Config is the configuration of a shell. All of it comes from the topology, except Core.ID, Core.Watch, Lost and Again.
type Config struct {
	Core      core.Config
	Snapshot  int64         // bytes of log between two snapshots, at least (limits.snapshot)
	Drain     time.Duration // how long a node that is told to stop still sends what it has stored (limits.drain)
	Heartbeat time.Duration // between two heartbeats (medics.heartbeat)
	Outputs   []string      // endpoints of outputs, for clients
	Dir       string        // of the log, for messages
	// Unsynced says that the log is in memory. A commit for which a client waits is then closed at once: with one for each request instead of
	// one for several, no fsync is added, and the client waits for a millisecond less at each request.
	Unsynced bool
	// Commits hears how long commits take, from when they are closed until they are durable; nil if nobody counts.
	Commits *histogram.Histogram
	// Lost is the sessions that made earlier incarnations of the node crash. They are aborted before anything is taken in, and recovery skips
	// their state, because it would crash the node again (N9).
	Lost []Loss
	// Again says that this process has retired a log already. It may do so once: see retire.
	Again bool
}

// Loss is a session that a node cannot continue, with the reason for the session's client.
type Loss struct {
	Session session.ID
	Reason  string
}

// Shell is a node without sockets, disk and clock. One goroutine owns it.
type Shell struct {
	cfg     Config
	core    *core.Core
	started time.Time
	flush   flushTimer

	// The one job that may be under way, and the one that found the disk full and is repeated at retryAt.
	busy    bool
	failed  *Job
	retryAt time.Time // when the job that found the disk full is tried again
	// the error of a job that found the disk full, or no file descriptor, until all of it is done and the reserve is whole again; else nil
	full    error
	unsaved bool // the job's snapshot found no room; a commit that finds room, since it is smaller, does not end full
	short   bool // the log has spent some of its reserve

	// What the shell has to know of the log.
	last     wal.Index // the last record
	snapAt   wal.Index // the last snapshot
	snapSize int64     // its bytes
	logBytes int64
	sinceCut int64 // bytes appended since the last snapshot
	lastCut  time.Time
	idleAt   time.Time // since when the node has been idle; zero while it is not
	swept    bool      // files without a reference were removed
	heir     bool      // a heritage is next to this log; it is removed once the first commit is stored (R14)

	pieces pieces        // of files that are read
	read   []*role.Piece // pieces that were taken since the last step

	lost bool // the aborts of Config.Lost are not durable yet

	draining   bool
	drainUntil time.Time
	retiring   bool  // the log is to be put aside, and a heartbeat says so
	retired    bool  // it is put aside
	failure    error // final (W4)

	beatDue    time.Time // when the next heartbeat is due; zero: at once
	reportedAt time.Time // when refused messages were last reported
	droppedAt  time.Time // when dropped frames were last reported
	alarm      time.Time // of the step under way
	refusals   []core.Reply
	asked      []session.ID // whose traces somebody wants
	notes      []Note
}

// Note is a line for the node's log.
type Note struct {
	Level slog.Level
	Text  string
	Args  []any // like slog's
}

// New returns the shell of a node that has stored nothing yet; Recover brings it to where its log ends.
func New(cfg Config, now time.Time) (*Shell, error) {
	c, err := core.New(cfg.Core)
	if err != nil {
		return nil, err
	}
	return &Shell{cfg: cfg, core: c, started: now, flush: flushTimer{free: cfg.Unsynced}}, nil
}

// Core is the shell's core, for reading. The simulator (test/sim) checks it.
func (s *Shell) Core() *core.Core { return s.core }

// Close ends work that is under way. The shell must not be used afterwards.
func (s *Shell) Close() { s.core.Close() }

// Event takes an event of the transport. A node that drains ignores frames, but still needs acknowledgements and connections.
func (s *Shell) Event(now time.Time, e link.Event) {
	switch {
	case e.Frames != nil:
		s.arrived(now, e.At)
		if !s.draining {
			s.core.Receive(e.Frames)
		}
	case e.Asked != nil:
		if !slices.Contains(s.asked, *e.Asked) && len(s.asked) < maxAsked {
			s.asked = append(s.asked, *e.Asked)
		}
	case e.Acks != nil:
		for _, a := range e.Acks {
			s.core.Ack(a, now)
		}
	case e.Connected && e.Incoming:
		s.core.Dialled(e.Edge, e.Node)
	case e.Connected:
		s.core.Connected(e.Edge, e.Node)
	case e.Answers:
		s.core.Answers(e.Node)
	case e.Heartbeat != nil:
		b, err := heartbeat.Decode(e.Heartbeat)
		if err != nil || b.Node != e.Node {
			return // an unknown sender
		}
		if b.State == heartbeat.Recovering {
			return // its sender is opening its log: the heartbeat says nothing more yet, not even the log's id (N9)
		}
		s.core.Heartbeat(now, b.Heard())
	}
}

// maxAsked bounds how many sessions one step reports about.
const maxAsked = 16

// arrived tells the trace when the next frames arrived.
func (s *Shell) arrived(now, at time.Time) {
	waited := time.Duration(0)
	if !at.IsZero() {
		waited = now.Sub(at)
	}
	s.cfg.Core.Trace.Arrived(waited)
}

// Prepare returns work on requests that may be done in parallel before they are handed to Requests; see core.Prepare.
func (s *Shell) Prepare(requests []role.Request) []func() {
	if s.draining {
		return nil
	}
	return s.core.Prepare(requests)
}

// Requests takes requests of clients. A node that drains takes none; clients repeat them elsewhere or later.
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

// Unsent reports that the transport did not accept a frame of Output.Sends and those after it.
func (s *Shell) Unsent(edge string, to link.NodeID, from link.Seq) { s.core.Unsent(edge, to, from) }

// Worked says for how long the loop has worked since it last waited: on events, on a step, and on what the step asked for. Commits of a
// loop that hardly works wait for nothing (flushTimer).
func (s *Shell) Worked(turn time.Duration) { s.flush.add(turn) }

// note adds a line to the node's log.
func (s *Shell) note(level slog.Level, text string, args ...any) {
	s.notes = append(s.notes, Note{level, text, args})
}

// wakeAt makes sure that Step is called at this time or earlier.
func (s *Shell) wakeAt(at time.Time) {
	if at.Before(s.alarm) {
		s.alarm = at
	}
}
