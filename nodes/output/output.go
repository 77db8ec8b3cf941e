// Package output is the role that stores finished answers and hands them to clients. Every output gets every answer
// (edge of route "all"), so clients can ask any replica.
//
// Answers stay until the client closes the session or limits.results_ttl has passed. Their rows are in files beside the log (rows.go), and
// are read from there when clients ask for them. Rows of long answers arrive in any order; they are merged while clients read them
// (merge.go).
package output

import (
	"fmt"
	"time"

	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Output implements role.Gateway and role.EndReporter.
type Output struct {
	gateway.Base
	results map[session.ID]*result
	waiting []poll
	refused bounded.Map[session.ID, role.Ended] // sessions that failed because their id was in use; the newest of each id
	told    map[session.ID]uint64               // number of the heartbeat that last reported an ended session
	beats   uint64
	now     time.Time
	dropped []string // files that are no longer needed

	// FileBytes is DefaultFileBytes unless it is set before the first call. It must never change for a data directory,
	// because recovery repeats calls.
	FileBytes int
}

var (
	_ role.Gateway     = (*Output)(nil)
	_ role.EndReporter = (*Output)(nil)
	_ role.Heir        = (*Output)(nil)
	_ role.Filer       = (*Output)(nil)
)

type result struct {
	id session.ID
	gateway.Holder
	digest   role.Digest // of its announcement
	analysis string
	streams  int // of the analysis
	ended    int
	rows
	over     bool // complete, or failed
	why      gateway.Outcome
	opened   time.Time   // in this incarnation: not durable
	outline  string      // asks without the values in it
	asks     string      // what the session asks; not durable: empty for answers kept over a restart
	finished time.Time   // zero until the first tick after the end of the session, or after a start
	stored   gateway.Age // time since it was finished, as last recorded in the log
	asked    time.Time   // when a client last asked for it, in this incarnation
}

// poll is a request for results that waits for something new.
type poll struct {
	peer  role.Peer
	by    security.Identity
	req   protocol.Request
	until time.Time
}

// New returns the role.
func New(about gateway.About) *Output {
	return &Output{Base: gateway.NewBase(topology.Output, about), results: map[session.ID]*result{},
		refused: bounded.NewMap[session.ID, role.Ended](recent), FileBytes: DefaultFileBytes}
}

// Open implements role.Role. While an answer is kept, its id belongs to its session (R17). When the answer is gone,
// the first input decides whether the id may be used again.
func (o *Output) Open(s role.Session) error {
	r := o.results[s.ID]
	if r != nil && r.Claimed() && r.Owner != s.Owner {
		o.forget(r) // another client had claimed that it lost a session with this id (S5)
		r = nil
	}
	if r != nil && len(r.Openers) == 0 {
		return fmt.Errorf("session %s failed before node %s heard who opened it: choose another session id", s.ID, o.About.Node)
	}
	if r != nil && !s.Same(&role.Session{Openers: r.Openers, Digest: r.digest}) {
		err := fmt.Errorf("node %s keeps the answer of another session with the id %s: choose another session id, or drop that answer with "+
			"`posta results %s --drop`",
			o.About.Node, s.ID, s.ID)
		if s.Openers.Founder() != r.Openers.Founder() {
			o.refused.Put(s.ID, role.Ended{ID: s.ID, Opener: s.Openers.Founder(), Failed: true, Reason: err.Error()})
		}
		return err
	}
	if gone, ok := o.Tombstones.Get(s.ID); r == nil && !(ok && gone.Openers.Founder() == s.Openers.Founder()) {
		o.Tombstones.Delete(s.ID)
		o.results[s.ID] = &result{id: s.ID, Holder: gateway.Holder{Owner: s.Owner, Openers: s.Openers}, digest: s.Digest,
			analysis: s.Analysis.Name, asks: s.Analysis.Asks, outline: s.Analysis.Outline, streams: len(s.Analysis.Streams)}
	}
	return nil
}

// Refused implements role.Refuser. This output's heartbeats tell the inputs of the refusal.
func (o *Output) Refused(e role.Ended) {
	o.refused.Put(e.ID, e)
	o.Host.Record(encodeRefused(e))
}

// TakenOver implements role.Gateway.
func (o *Output) TakenOver(s role.Session) {
	if r := o.results[s.ID]; r != nil && s.Same(&role.Session{Openers: r.Openers, Digest: r.digest}) {
		r.Openers = s.Openers
	} else if gone, ok := o.Tombstones.Get(s.ID); r == nil && ok && gone.Owner == s.Owner && gone.Openers.Begin(s.Openers) {
		gone.Openers = s.Openers
		o.Tombstones.Put(s.ID, gone)
	}
}

// Take implements role.Role. The message is a part of an answer, or rows to be sorted.
func (o *Output) Take(id session.ID, m role.Message, out role.Emitter) (bool, error) {
	r := o.results[id]
	if r == nil {
		return false, nil // closed before it was complete
	}
	if err := r.add(m.Payload, o.FileBytes); err != nil {
		return false, err
	}
	// Not while recovery repeats calls: the limit may have been different when the call was first made.
	if most := uint64(o.About.Limits.ResultsSize); most > 0 && r.size > most && out != nil && out.Limits() != role.NoLimits {
		return false, fmt.Errorf("the answer has more than %s, which is what node %s keeps of all answers: raise limits.results_size in the "+
			"topology, or ask for less",
			o.About.Limits.ResultsSize, o.About.Node)
	}
	return true, nil
}

// End implements role.Role. After the last stream the answer is complete.
func (o *Output) End(id session.ID, _ int, _ role.Emitter) (bool, error) {
	if r := o.results[id]; r != nil {
		r.ended++
		if r.ended == r.streams && !r.over {
			r.over = true
			r.complete(o.FileBytes)
		}
	}
	return false, nil
}

// Drop implements role.Role. A failure is kept like an answer, even if the session was never opened here.
func (o *Output) Drop(id session.ID, why role.Outcome) {
	if !why.Failed {
		return
	}
	r := o.results[id]
	if r == nil || r.Claimed() && r.Owner != why.Owner {
		if gone, ok := o.Tombstones.Get(id); ok && !gone.Claimed() {
			return
		}
		r = &result{id: id, Holder: gateway.Holder{Owner: why.Owner}}
		o.results[id] = r
	}
	if !r.over {
		o.free(r)
		r.over = true
		r.why = gateway.OutcomeOf(why)
	}
}

// Running implements role.Gateway. It counts the answers that are not complete.
func (o *Output) Running() int {
	n := 0
	for _, r := range o.results {
		if !r.over {
			n++
		}
	}
	return n
}

// Tick implements role.Gateway.
func (o *Output) Tick(now time.Time) {
	o.now = now
	o.answerPolls(now)
	expired := false
	for _, r := range o.results {
		if r.opened.IsZero() {
			r.opened = now
		}
		if r.over && r.finished.IsZero() {
			r.finished = now.Add(-o.About.Uptime.Now(now, r.stored))
		}
		expired = expired || o.expired(r)
	}
	if expired { // checked first, because ticks come with every event and sorting is costly
		o.expire()
	}
	o.makeRoom()
	o.storeAges()
}

func (o *Output) expired(r *result) bool {
	return r.over && o.now.Sub(r.finished) >= o.About.Limits.ResultsTTL
}

func (o *Output) expire() {
	for _, r := range role.ByID(o.results) {
		if o.expired(r) {
			o.giveUp(r, fmt.Sprintf("were kept for %s (limits.results_ttl)", o.About.Limits.ResultsTTL))
		}
	}
}

// Forget implements role.Gateway.
func (o *Output) Forget(id session.ID, by role.Asker) {
	if r := o.results[id]; r != nil && r.Shows(by.Identity, protocol.Close) && r.heeds(by, protocol.Close) {
		o.remove(r, gateway.Closed(id))
	}
}

// heeds reports whether the token that the client shows permits the request. If the node has only heard that the
// session failed, the opener is unknown and any token will do.
func (r *result) heeds(by role.Asker, ask protocol.RequestType) bool {
	return len(r.Openers) == 0 || r.LetsAct(by, ask)
}

// remove drops an answer, remembers why, and records the removal.
func (o *Output) remove(r *result, why gateway.Outcome) {
	o.removed(r.id, why)
	o.Host.Record(encodeRemoval(r.id, why))
}

func (o *Output) removed(id session.ID, why gateway.Outcome) {
	t := gateway.Tombstone{Outcome: why}
	if r := o.results[id]; r != nil {
		t.Holder = r.Holder
		o.forget(r)
	}
	o.Tombstones.Put(id, t)
}

// forget drops a result; free drops only its rows.
func (o *Output) forget(r *result) {
	o.free(r)
	delete(o.results, r.id)
}

func (o *Output) free(r *result) {
	for _, f := range r.files {
		if !f.small {
			o.dropped = append(o.dropped, f.name)
		}
	}
	r.rows = rows{}
}
