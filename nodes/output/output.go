// Package output is the role that stores finished answers and hands them to clients. Every output gets every answer (edge
// of route "all"), so any replica can be asked.
//
// Answers stay until the client closes the session or limits.results_ttl has passed. Memory and disk hold at most what the
// sessions of that time answered.
package output

import (
	"fmt"
	"time"

	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// Output implements role.Gateway and role.EndReporter.
type Output struct {
	gateway.Base
	results map[session.ID]*result
	waiting []poll
	told    map[session.ID]uint64 // in which heartbeat inputs were last told of a session that ended
	beats   uint64
	now     time.Time
}

var (
	_ role.Gateway     = (*Output)(nil)
	_ role.EndReporter = (*Output)(nil)
	_ role.Heir        = (*Output)(nil)
)

type result struct {
	id       session.ID
	opener   session.TokenHash // zero: it failed, and was never opened here
	analysis string
	streams  int // of the analysis
	ended    int
	parts    []protocol.Part
	size     uint64
	over     bool // complete, or failed
	why      gateway.Outcome
	opened   time.Time // of this incarnation: not durable
	finished time.Time
}

// poll is a request for results that waits for something new.
type poll struct {
	peer  role.Peer
	req   protocol.Request
	until time.Time
}

// New returns the role.
func New(about gateway.About) *Output {
	return &Output{Base: gateway.NewBase(topology.Output, about), results: map[session.ID]*result{}}
}

// Open implements role.Role. An id whose answer is kept belongs to the session that has it (R17).
func (o *Output) Open(s role.Session) error {
	gone, closed := o.Tombstones.Get(s.ID)
	switch r := o.results[s.ID]; {
	case r != nil && r.opener != s.Opener, closed && gone.Opener != s.Opener:
		return fmt.Errorf("node %s has had another session with the id %s: choose another session id", o.About.Node, s.ID)
	case r == nil && !closed:
		o.results[s.ID] = &result{id: s.ID, opener: s.Opener, analysis: s.Analysis.Name, streams: len(s.Analysis.Streams)}
	}
	return nil
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
	if r == nil {
		if _, gone := o.Tombstones.Get(id); gone {
			return
		}
		r = &result{id: id}
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
			r.finished = now
		}
		expired = expired || o.expired(r)
	}
	if expired { // seldom: a tick comes with every event
		o.expire()
	}
}

func (o *Output) expired(r *result) bool {
	return r.over && o.now.Sub(r.finished) >= o.About.Limits.ResultsTTL
}

func (o *Output) expire() {
	for _, r := range role.ByID(o.results) {
		if o.expired(r) {
			o.remove(r, gateway.Outcome{
				Code:   protocol.ErrExpired,
				Reason: fmt.Sprintf("the results of session %s were kept for %s and are gone: run the analysis again", r.id, o.About.Limits.ResultsTTL),
			})
		}
	}
}

// Forget implements role.Gateway.
func (o *Output) Forget(id session.ID, by session.TokenHash) {
	if r := o.results[id]; r != nil && r.mayAct(by) {
		o.remove(r, gateway.Closed(id))
	}
}

// mayAct reports whether a request changes a session: its opener's does (R17), and that of a person, who needs no token. Of a failure
// that came alone nobody knows who opened the session.
func (r *result) mayAct(by session.TokenHash) bool {
	none := session.TokenHash{}
	return by == none || by == r.opener || r.opener == none
}

// remove drops an answer and remembers why; it is recorded.
func (o *Output) remove(r *result, why gateway.Outcome) {
	o.removed(r.id, why)
	o.Host.Record(encodeRemoval(r.id, why))
}

func (o *Output) removed(id session.ID, why gateway.Outcome) {
	t := gateway.Tombstone{Outcome: why}
	if r := o.results[id]; r != nil {
		t.Opener = r.opener
	}
	delete(o.results, id)
	o.Tombstones.Put(id, t)
}
