// Package output is the role that stores finished answers and hands them to clients. Every output gets every answer (edge
// of route "all"), so any replica can be asked.
//
// Answers stay until the client closes the session or limits.results_ttl has passed. Memory and disk hold at most what the
// sessions of that time answered.
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
	refused bounded.Map[session.ID, role.Ended] // sessions that failed for the id of another one; the newest of an id
	told    map[session.ID]uint64               // in which heartbeat inputs were last told of a session that ended
	beats   uint64
	now     time.Time
}

var (
	_ role.Gateway     = (*Output)(nil)
	_ role.EndReporter = (*Output)(nil)
	_ role.Heir        = (*Output)(nil)
)

type result struct {
	id session.ID
	gateway.Holder
	digest   role.Digest // of its announcement
	analysis string
	streams  int // of the analysis
	ended    int
	parts    []protocol.Part
	size     uint64
	over     bool // complete, or failed
	why      gateway.Outcome
	opened   time.Time   // of this incarnation: not durable
	finished time.Time   // zero until the first tick behind it, and behind a start
	stored   gateway.Age // since it was finished, as the log has it
	asked    time.Time   // of this incarnation: when a client last asked for it
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
	return &Output{Base: gateway.NewBase(topology.Output, about), results: map[session.ID]*result{}, refused: bounded.NewMap[session.ID, role.Ended](recent)}
}

// Open implements role.Role. An id whose answer is kept belongs to the session that has it (R17). When the answer is gone, the first input
// decides whether the id may be used again.
func (o *Output) Open(s role.Session) error {
	r := o.results[s.ID]
	if r != nil && r.Claimed() && r.Owner != s.Owner {
		delete(o.results, s.ID) // another client has claimed that it lost a session of the id (S5)
		r = nil
	}
	if r != nil && len(r.Openers) == 0 {
		return fmt.Errorf("session %s failed before node %s heard who opened it: choose another session id", s.ID, o.About.Node)
	}
	if r != nil && !s.Same(&role.Session{Openers: r.Openers, Digest: r.digest}) {
		err := fmt.Errorf("node %s keeps the answer of another session with the id %s: choose another session id, or drop that answer with `posta results %s --drop`",
			o.About.Node, s.ID, s.ID)
		if s.Openers.Founder() != r.Openers.Founder() {
			o.refused.Put(s.ID, role.Ended{ID: s.ID, Opener: s.Openers.Founder(), Failed: true, Reason: err.Error()})
		}
		return err
	}
	if gone, ok := o.Tombstones.Get(s.ID); r == nil && !(ok && gone.Openers.Founder() == s.Openers.Founder()) {
		o.Tombstones.Delete(s.ID)
		o.results[s.ID] = &result{id: s.ID, Holder: gateway.Holder{Owner: s.Owner, Openers: s.Openers}, digest: s.Digest, analysis: s.Analysis.Name, streams: len(s.Analysis.Streams)}
	}
	return nil
}

// Refused implements role.Refuser: the inputs hear of it from this output.
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

// Take implements role.Role: a part of an answer.
func (o *Output) Take(id session.ID, m role.Message, _ role.Emitter) (bool, error) {
	r := o.results[id]
	if r == nil {
		return false, nil // closed before it was complete
	}
	err := r.add(m.Payload)
	return err == nil, err
}

// add adds the parts of a reply, numbered from 1 on.
func (r *result) add(payload []byte) error {
	reply, err := protocol.DecodeReply(payload)
	if err != nil {
		return err
	}
	for _, p := range reply.Parts {
		p.N = uint64(len(r.parts) + 1)
		r.parts = append(r.parts, p)
		r.size += uint64(p.Rows.Size())
	}
	return nil
}

// End implements role.Role: after the last stream the answer is complete.
func (o *Output) End(id session.ID, _ int, _ role.Emitter) (bool, error) {
	if r := o.results[id]; r != nil {
		r.ended++
		r.over = r.over || r.ended == r.streams
	}
	return false, nil
}

// Drop implements role.Role: a failure is an answer too, also that of a session that was never opened here.
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
		r.over, r.parts, r.size = true, nil, 0
		r.why = gateway.OutcomeOf(why)
	}
}

// Running implements role.Gateway: answers that are not complete.
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
	if expired { // seldom: a tick comes with every event
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

// heeds reports whether the token that is shown does not speak against a request. Of a failure that came alone nobody knows who opened the session.
func (r *result) heeds(by role.Asker, ask protocol.RequestType) bool {
	return len(r.Openers) == 0 || r.LetsAct(by, ask)
}

// remove drops an answer and remembers why; it is recorded.
func (o *Output) remove(r *result, why gateway.Outcome) {
	o.removed(r.id, why)
	o.Host.Record(encodeRemoval(r.id, why))
}

func (o *Output) removed(id session.ID, why gateway.Outcome) {
	t := gateway.Tombstone{Outcome: why}
	if r := o.results[id]; r != nil {
		t.Holder = r.Holder
	}
	delete(o.results, id)
	o.Tombstones.Put(id, t)
}
