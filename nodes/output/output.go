// Package output is the role that stores finished answers and hands them to clients. Every output gets every answer (edge
// of route "all"), so any replica can be asked.
//
// Answers stay until the client closes the session or limits.results_ttl has passed. Memory and disk hold at most what the
// sessions of that time answered.
package output

import (
	"fmt"
	"slices"
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
	now     time.Time
}

var (
	_ role.Gateway     = (*Output)(nil)
	_ role.EndReporter = (*Output)(nil)
)

type result struct {
	id       session.ID
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

// Open implements role.Role.
func (o *Output) Open(s role.Session) error {
	if _, gone := o.Tombstones.Get(s.ID); !gone && o.results[s.ID] == nil {
		o.results[s.ID] = &result{id: s.ID, analysis: s.Analysis.Name, streams: len(s.Analysis.Streams)}
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
		r.why = gateway.ParseOutcome(why.Reason)
	}
}

// Ended implements role.EndReporter.
func (o *Output) Ended() []role.Ended {
	var all []role.Ended
	for _, r := range o.results {
		if r.over {
			all = append(all, role.Ended{ID: r.id, Failed: r.why.Failed(), Reason: r.why.Text()})
		}
	}
	for _, id := range o.Tombstones.Recent(recent) {
		w, _ := o.Tombstones.Get(id)
		all = append(all, role.Ended{ID: id, Failed: w.Failed() && w.Code != protocol.ErrExpired, Reason: w.Text()})
	}
	slices.SortFunc(all, func(a, b role.Ended) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return all
}

// recent is how many closed sessions heartbeats still mention, for an input that was away when they ended.
const recent = 64

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
			o.remove(r.id, gateway.Outcome{
				Code:   protocol.ErrExpired,
				Reason: fmt.Sprintf("the results of session %s were kept for %s and are gone: run the analysis again", r.id, o.About.Limits.ResultsTTL),
			})
		}
	}
}

// Forget implements role.Gateway.
func (o *Output) Forget(id session.ID) {
	if o.results[id] != nil {
		o.remove(id, gateway.Outcome{})
	}
}

// remove drops an answer and remembers why; it is recorded.
func (o *Output) remove(id session.ID, why gateway.Outcome) {
	delete(o.results, id)
	o.Tombstones.Put(id, why)
	o.Host.Record(encodeRemoval(id, why))
}
