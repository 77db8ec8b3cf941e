package trace

import (
	"time"

	"posta.dev/posta/protocol/session"
)

// Session is what a node records of one session. A nil Session is one that is not recorded.
//
// Invariant: the sum of totals is the time from begin to since, and so is the sum of the line's cells.
type Session struct {
	id        session.ID
	analysis  string
	trace     session.Trace
	recovered bool // the session began in an earlier life of the node
	failed    bool

	begin  time.Duration // by the recorder's clock, like all times here
	state  State
	since  time.Duration // the state's beginning; all before it is counted
	totals Cell
	line   timeline

	roles []RoleTime
	in    []*queue // by link; nil: it has carried nothing of the session
	out   []*queue

	commits spread // from when a commit with the session's data is closed until it is stored
	syncs   spread // what such a commit waited for fsyncs

	preparing int // chunks that a role works on beside the loop

	building bool // it has a part in the commit that is being built
	flying   bool // it has a part in the commit that is being stored
	left     bool // it has left the node's roles; it ends when the commit that says so is stored
	over     bool // it has ended: only acknowledgements of its frames still count
}

// queue is what a session sent over one link.
type queue struct {
	frames, bytes uint64
	waited        time.Duration // by all frames that are through, together
	through       uint64        // those frames
	longest       time.Duration
	waiting       uint64 // bytes that wait now; of links that begin here
	peak          uint64
}

func (q *queue) pass(frames uint64, each time.Duration) {
	q.through += frames
	q.waited += time.Duration(frames) * each
	q.longest = max(q.longest, each)
}

// count adds the time since the state began.
func (s *Session) count(now time.Duration) {
	if s.over || now <= s.since {
		return
	}
	s.totals[s.state] += now - s.since
	s.line.add(s.state, s.since-s.begin, now-s.begin)
	s.since = now
}

func (s *Session) set(state State, now time.Duration) {
	s.count(now)
	s.state = state
}

// rest is the state of a session that no role works on in the loop.
func (s *Session) rest(now time.Duration) {
	switch {
	case s.preparing > 0:
		s.set(Working, now)
	case s.flying:
		s.set(Log, now)
	default:
		s.set(Input, now)
	}
}

// arrived says that something of the session has been here since the time at. Until now the loop had other work. A session that waited for
// the log meanwhile keeps waiting for the log.
func (s *Session) arrived(at, now time.Duration) {
	if s.state == Input && at < now {
		s.set(Turn, max(at, s.since))
	}
}

func through(all []*queue, i int) *queue {
	if all[i] == nil {
		all[i] = &queue{}
	}
	return all[i]
}
