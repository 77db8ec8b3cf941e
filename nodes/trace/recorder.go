package trace

import (
	"time"

	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/protocol/session"
)

// Kept is how many sessions a node remembers that have left it. Each takes about 4 KiB, and 64 bytes more for each link that carried its
// frames.
const Kept = 256

// Link is one end of a link at the node.
type Link struct {
	Edge string
	Node string // at the other end; empty: all receivers of the edge
}

// Recorder records the sessions of one node. One goroutine owns it.
type Recorder struct {
	clock   func() time.Duration
	begun   time.Duration // when this life began to record
	roles   []string      // of the node's chain
	in, out []Link

	running map[session.ID]*Session
	ended   bounded.Map[session.ID, *Session]

	stack   []call
	since   time.Duration // what the innermost call has not counted yet began then
	arrival time.Duration // when what the core receives next arrived at the node

	build    []*Session // with a part in the commit that is being built
	flight   []*Session // with a part in the commit that is being stored
	sealedAt time.Duration
	synced   time.Duration // by the fsyncs of that commit
	boxes    []outbox
}

type call struct {
	s    *Session
	role int
}

// New returns a recorder of a node with these roles and links. clock tells the time since some moment, and never goes back.
func New(clock func() time.Duration, roles []string, in, out []Link) *Recorder {
	return &Recorder{
		clock: clock, begun: clock(), roles: roles, in: in, out: out, running: map[session.ID]*Session{},
		ended: bounded.NewMap[session.ID, *Session](Kept), boxes: make([]outbox, len(out)),
	}
}

// Begin starts to record a session. recovered says that it began in an earlier life of the node, of whose time nothing is known.
func (r *Recorder) Begin(id session.ID, analysis string, t session.Trace, recovered bool) *Session {
	if r == nil {
		return nil
	}
	now := r.clock()
	s := &Session{
		id: id, analysis: analysis, trace: t, recovered: recovered, begin: now, since: now,
		roles: make([]RoleTime, len(r.roles)), in: make([]*queue, len(r.in)), out: make([]*queue, len(r.out)),
	}
	for i, name := range r.roles {
		s.roles[i].Name = name
	}
	r.running[id] = s
	return s
}

// Enter says that a role begins to work on a session; Leave, that it is done. Roles of a chain call each other: the time of an inner call
// is not the outer one's.
func (r *Recorder) Enter(s *Session, role int) {
	if r == nil {
		return
	}
	if s != nil {
		now := r.lap()
		s.set(Working, now)
		s.roles[role].Calls++
	}
	r.stack = append(r.stack, call{s, role})
}

// Leave ends the innermost call.
func (r *Recorder) Leave() {
	if r == nil {
		return
	}
	last := len(r.stack) - 1
	s := r.stack[last].s
	if s == nil {
		r.stack = r.stack[:last]
		return
	}
	now := r.lap()
	r.stack = r.stack[:last]
	if !r.works(s) {
		s.rest(now)
	}
}

// lap counts the time since the last lap for the role that works now.
func (r *Recorder) lap() time.Duration {
	now := r.clock()
	if n := len(r.stack); n > 0 && r.stack[n-1].s != nil {
		c := r.stack[n-1]
		c.s.roles[c.role].Time += now - r.since
	}
	r.since = now
	return now
}

// Prepare says that a role begins to work on a chunk of a session on another goroutine. Prepared has to follow.
func (r *Recorder) Prepare(s *Session, role int) {
	if r == nil || s == nil {
		return
	}
	s.preparing++
	s.roles[role].Calls++
	s.set(Working, r.clock())
}

// Prepared says how long a role has worked on a chunk that Prepare was called for. It is called when the loop takes the chunk. The time of
// chunks that were prepared in parallel counts for each of them, so a role may have more time than has passed.
func (r *Recorder) Prepared(s *Session, role int, took time.Duration) {
	if r == nil || s == nil {
		return
	}
	s.preparing--
	s.roles[role].Time += took
	if s.preparing == 0 && !r.works(s) {
		s.rest(r.clock())
	}
}

// works reports whether the innermost call is of a session.
func (r *Recorder) works(s *Session) bool {
	n := len(r.stack)
	return n > 0 && r.stack[n-1].s == s
}

// Wait says that a session cannot continue: state says what it waits for. It holds until a role works on the session again, and while one
// does it changes nothing. at is when what waits arrived; see Arrival.
func (r *Recorder) Wait(s *Session, state State, at time.Duration) {
	if r == nil || s == nil || s.state == state || s.over || s.preparing > 0 {
		return
	}
	now := r.clock()
	s.arrived(at, now)
	s.set(state, now)
}

// Arrived says how long ago what the core receives next arrived at the node.
func (r *Recorder) Arrived(ago time.Duration) {
	if r != nil {
		r.arrival = r.clock() - max(0, ago)
	}
}

// Arrival returns what Arrived said.
func (r *Recorder) Arrival() time.Duration {
	if r == nil {
		return 0
	}
	return r.arrival
}

// Now returns the time, for what has just arrived.
func (r *Recorder) Now() time.Duration {
	if r == nil {
		return 0
	}
	return r.clock()
}

// Took says that a frame of a session leaves the queue of link in. waiting is how many bytes were in the queue, of all sessions.
func (r *Recorder) Took(s *Session, in, bytes, waiting int, at time.Duration) {
	if r == nil || s == nil {
		return
	}
	now := r.clock()
	s.arrived(at, now)
	q := through(s.in, in)
	q.frames++
	q.bytes += uint64(bytes)
	q.peak = max(q.peak, uint64(waiting))
	q.pass(1, now-at)
}

// Touch says that the commit that is being built has something of a session.
func (r *Recorder) Touch(s *Session) {
	if s != nil && !s.building && !s.over {
		s.building = true
		r.build = append(r.build, s)
	}
}

// Sealed says that the commit that was being built is closed, and is being stored from now on.
func (r *Recorder) Sealed() {
	if r == nil {
		return
	}
	r.sealedAt = r.clock()
	r.build, r.flight = r.flight[:0], r.build
	for _, s := range r.flight {
		s.building, s.flying = false, true
		if s.state == Input {
			s.set(Log, r.sealedAt)
		}
	}
	for i := range r.boxes {
		r.boxes[i].seal()
	}
}

// Synced says how long the fsyncs of the commit took that is being stored.
func (r *Recorder) Synced(took time.Duration) {
	if r != nil {
		r.synced = took
	}
}

// Stored says that the commit is stored.
func (r *Recorder) Stored() {
	if r == nil {
		return
	}
	now := r.clock()
	for i := range r.boxes {
		r.boxes[i].stored(i, now)
	}
	for _, s := range r.flight {
		s.commits.add(now - r.sealedAt)
		s.syncs.add(r.synced)
		s.flying = false
		if s.state == Log {
			s.set(Input, now)
		}
		if s.left && !s.building {
			r.end(s, now)
		}
	}
	clear(r.flight) // let the sessions go
	r.flight = r.flight[:0]
}

// Left says that a session has left the node's roles. It ends when the commit that says so is stored.
func (r *Recorder) Left(s *Session, failed bool) {
	if r == nil || s == nil {
		return
	}
	s.left, s.failed = true, failed
	r.Touch(s)
}

func (r *Recorder) end(s *Session, now time.Duration) {
	s.count(now)
	s.over = true
	if r.running[s.id] == s {
		delete(r.running, s.id)
	}
	r.ended.Delete(s.id)
	r.ended.Put(s.id, s)
}
