package core

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Config is what a session needs to know. All fields but Params and Token are needed.
type Config struct {
	Entries  []string // endpoints of any nodes of the cluster; asked in turn
	Analysis string
	Params   map[string]string
	Plan     []byte
	Session  session.ID
	Token    session.Token // zero if only results and lists are asked for, and Tell is forced
	Reopens  bool          // another run may have opened the session with this very token, and may still need it
	Takeover bool          // the session is taken over from the client that opened it (R17)
	Resume   bool          // a takeover that continues with an upload: Answers says what the inputs have taken
	NoWait   bool          // end with protocol.ErrBusy instead of waiting for admission
	Named    bool          // endpoints that the cluster tells are dialled with the names of their nodes (NamedEndpoint)

	Lanes       int           // chunks under way at once; there is at least one lane for each input
	Timeout     time.Duration // of a first try; later tries wait longer
	GiveUpAfter time.Duration // how long all nodes may be silent before a task gives up; below 0: no limit

	Rand *rand.Rand // spreads pauses; owned by the session
}

// Phase is how far a session has come. It decides what the cluster is told at the end.
type Phase int

// The phases of a session, in their order.
const (
	NotOpen   Phase = iota
	MaybeOpen       // an input may have opened it for this client
	Open            // every input has opened it for this client
	Uploaded        // every stream has ended at every input
)

// task is what the caller waits for.
type task int

const (
	noTask task = iota
	discover
	open
	upload
	results
)

// Session is one session. One caller at a time uses it. Each event carries the time, which never goes back.
type Session struct {
	cfg    Config
	now    time.Time
	out    Output
	former Output // its memory is used again
	conns  []*conn

	entries []*node
	inputs  []*node // in the order in which the session is opened
	outputs []*node
	about   protocol.Reply // what the entry said about the cluster
	first   protocol.Reply // what the first input said about the session
	heard   time.Time      // the last reply from anywhere
	retries uint64

	filesRead, filesSize uint64 // as Files was told last

	task       task
	err        error // how the last task ended
	phase      Phase
	pauseUntil time.Time // when the task continues by itself; zero while it waits for an answer
	busy       bool      // the cluster has no room
	looked     bool      // an input has confirmed that there is a session to resume
	aliveSince time.Time // since when an input says that the former client lives; zero if none does

	at       int // index of the entry, input or output that the task asks
	silences int // entries that did not answer in this round
	refusals []error
	states   []protocol.Reply // what the inputs said of the session

	lanes   []*lane
	sending int       // the stream that is uploaded
	begun   time.Time // when its upload began
	ending  int       // inputs that have not acknowledged its end yet
	streams []StreamProgress

	parts    parts
	verdicts verdicts
	rows     []Rows // that the caller has not taken
	allHere  bool   // no more rows come after these
	unknown  unknownAt

	lost    error     // why the cluster no longer carries the session
	lostAt  time.Time // when lost ends the task, unless an output delivers the answer; zero while the caller has rows to take
	explain explanation
	tell    tellingAll
	list    listingAll
}

// New returns a session that no node knows yet.
func New(cfg Config, now time.Time) *Session {
	cfg.Takeover = cfg.Takeover || cfg.Resume
	s := &Session{cfg: cfg, now: now, heard: now}
	for _, endpoint := range cfg.Entries {
		s.entries = append(s.entries, s.newNode(endpoint))
	}
	return s
}

// Pending reports whether a task is under way.
func (s *Session) Pending() bool { return s.task != noTask }

// Files says how many bytes of the files the caller has read, out of how many, in any unit; both are 0 if that is not known. Pings tell it
// to the inputs, so that other people see how far the session is.
func (s *Session) Files(read, size uint64) {
	if s.filesRead, s.filesSize = 0, 0; size < protocol.MaxOffset {
		s.filesRead, s.filesSize = min(read, protocol.MaxOffset-1), size
	}
}

// Err returns how the last task ended.
func (s *Session) Err() error { return s.err }

// Phase returns how far the session has come.
func (s *Session) Phase() Phase { return s.phase }

// About returns what the entry said of the cluster, with the inputs and outputs that are known now.
func (s *Session) About() protocol.Reply { return s.about }

// Opened returns what the first input said of the session when it opened it.
func (s *Session) Opened() protocol.Reply { return s.first }

// begin begins a task.
func (s *Session) begin(t task, now time.Time) {
	s.now = now
	s.task, s.err, s.pauseUntil, s.at = t, nil, time.Time{}, 0
}

// end ends the task. Only pings continue afterwards.
func (s *Session) end(err error) {
	if s.task == noTask {
		return
	}
	s.task, s.err, s.pauseUntil, s.busy = noTask, err, time.Time{}, false
	s.out.News = true
}

// fail ends the task, and the session as far as this client is concerned.
func (s *Session) fail(err error) {
	switch unknown := errors.Is(err, protocol.ErrUnknownSession); {
	case unknown && s.phase == Open:
		s.lookForReason(err)
	case unknown && s.phase == MaybeOpen: // one input opened it, and forgot it before the next one opened it
		s.conclude(forgotten(err))
	default:
		s.conclude(err)
	}
}

// conclude is fail for an error whose reason is not looked for.
func (s *Session) conclude(err error) {
	if s.task != results { // the outputs may be asked again
		s.lost = err
	}
	s.abandon()
	s.end(err)
}

// Stop ends the task from outside, with why. Results may be asked for again; an upload cannot be continued.
func (s *Session) Stop(why error, now time.Time) {
	s.now = now
	if s.task == noTask {
		return
	}
	if s.task != results {
		s.lost = why
	}
	s.abandon()
	s.end(why)
}

// abandon gives up all pings, and all exchanges but cancel, close and lists. Their late answers find an idle connection.
func (s *Session) abandon() {
	s.explain = explanation{}
	s.lostAt = time.Time{}
	for _, in := range s.inputs {
		in.pingAt = time.Time{}
	}
	for _, c := range s.conns {
		if c.x.purpose == telling || c.x.purpose == listing {
			c.waiting = nil
			continue
		}
		s.drop(c)
	}
	for _, l := range s.lanes {
		l.stage = drained
	}
}

// Woke reports that this process did not run for a while. No event's time contains that while. The inputs have heard nothing meanwhile, so
// their pings are due now.
func (s *Session) Woke(now time.Time) {
	s.now = now
	for _, in := range s.inputs {
		if !in.pingAt.IsZero() {
			in.pingAt = now
		}
	}
}

// Tick does what is due. Ticks that come too early or too late do no harm.
func (s *Session) Tick(now time.Time) {
	s.now = now
	due := func(at time.Time) bool { return !at.IsZero() && !at.After(now) }
	for _, c := range s.conns {
		if c.busy() && due(c.deadline) {
			s.silent(c)
		}
	}
	for _, in := range s.inputs {
		if due(in.pingAt) && !in.conn.busy() {
			s.ping(in)
		}
	}
	if due(s.explain.again) {
		s.askForReasons()
	}
	if due(s.explain.until) {
		s.unexplained()
	}
	if due(s.tell.until) {
		s.toldNobody()
	}
	if due(s.lostAt) {
		s.fail(s.lost)
	}
	if due(s.pauseUntil) {
		s.pauseUntil = time.Time{}
		switch s.task {
		case open:
			s.openNext()
		case results:
			s.poll()
		}
	}
}

// NoConnection reports that a connection can never be made, because its endpoint is invalid.
func (s *Session) NoConnection(why error, now time.Time) {
	s.now = now
	s.fail(why)
}

// pause lets the task continue later.
func (s *Session) pause(d time.Duration) { s.pauseUntil = s.now.Add(s.jitter(d)) }

// request returns a request with the session's id and token.
func (s *Session) request(t protocol.RequestType) protocol.Request {
	return protocol.Request{Type: t, Session: s.cfg.Session, Token: s.cfg.Token}
}

// failed returns the error for a session that failed in the cluster, as a reply says.
func (s *Session) failed(reply *protocol.Reply) error {
	id := s.cfg.Session.String()
	return protocol.With(fmt.Errorf("session %s of %s: %w", id, s.cfg.Analysis, reply.SessionFailure()),
		protocol.Fields{protocol.FieldSession: id})
}

// isRefusal reports whether err is a refusal that a node answered.
func isRefusal(err error) bool {
	refused := (*protocol.Error)(nil)
	return errors.As(err, &refused)
}
