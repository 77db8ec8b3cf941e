package core

import (
	"fmt"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Survey is what recovery knows of the whole log before it repeats the first record, so that it repeats only what still
// matters (N3). A log of many small sessions is mostly about sessions that have left: their calls are the expensive part of a
// recovery (tables are merged, queries computed), and nothing of them remains. And most frames were acknowledged.
//
// Turned down: to record that a session is over and rewrite the log without it (W6), and to take snapshots so often that there
// is little to repeat: that costs all the time what this costs once.
//
// An empty survey knows nothing, and everything is repeated.
type Survey struct {
	over  map[session.ID]point // the last time that a session was dropped
	acked map[outbox]map[link.NodeID]link.Seq
	last  map[outbox][]mark
	some  bool
	err   error
}

// point is a place between two inputs of the log: before input i of a record.
type point struct {
	at link.LogIndex
	i  int
}

func (p point) before(q point) bool { return p.at < q.at || p.at == q.at && p.i < q.i }

// outbox names a sender as records do.
type outbox struct {
	edge string
	to   link.NodeID
}

// mark says which frame of an outbox is the last one in a record.
type mark struct {
	at  link.LogIndex
	seq link.Seq
}

// NewSurvey returns an empty survey.
func NewSurvey() *Survey {
	return &Survey{over: map[session.ID]point{}, acked: map[outbox]map[link.NodeID]link.Seq{}, last: map[outbox][]mark{}}
}

// Look takes a record of the log; all of them in their order, or none. What it cannot read Recover reports. data is not kept.
func (s *Survey) Look(at link.LogIndex, data []byte) {
	s.some = true
	rec, err := decodeRecord(data)
	if err != nil {
		if s.err == nil {
			s.err = fmt.Errorf("N3: record %d: %w", at, err)
		}
		return
	}
	for i := range rec.inputs {
		in := &rec.inputs[i]
		if p := (point{at, i}); in.op == opDrop && s.over[in.session].before(p) {
			s.over[in.session] = p
		}
	}
	s.forget(rec.progress)
	for _, p := range rec.progress {
		s.acknowledged(p)
	}
	for i := range rec.frames {
		f := &rec.frames[i]
		k := outbox{f.edge, f.to}
		if n := len(s.last[k]); n > 0 && s.last[k][n-1].at == at {
			s.last[k][n-1].seq = f.frame.Seq
		} else {
			s.last[k] = append(s.last[k], mark{at, f.frame.Seq})
		}
	}
}

// forget drops outboxes that a record does not tell of: the topology was without them then. One that came back counts from 1 again.
func (s *Survey) forget(told []link.Progress) {
	for k := range s.acked {
		if !tells(told, k) {
			delete(s.acked, k)
			delete(s.last, k)
		}
	}
}

func tells(told []link.Progress, k outbox) bool {
	return slices.ContainsFunc(told, func(p link.Progress) bool { return p.Edge == k.edge && p.To == k.to })
}

func (s *Survey) acknowledged(p link.Progress) {
	k := outbox{p.Edge, p.To}
	if s.acked[k] == nil {
		s.acked[k] = map[link.NodeID]link.Seq{}
	}
	for _, a := range p.Acked {
		s.acked[k][a.Node] = max(s.acked[k][a.Node], a.Seq)
	}
}

// floor is up to where all receivers of an outbox have acknowledged. One that the log does not know has nothing yet.
func (s *Survey) floor(k outbox, peers []link.NodeID) link.Seq {
	if len(peers) == 0 {
		return 0
	}
	floor := s.acked[k][peers[0]]
	for _, p := range peers[1:] {
		floor = min(floor, s.acked[k][p])
	}
	return floor
}

// left reports whether a session leaves the node for good, as far as the log goes, at or behind a point.
func (s *Survey) left(id session.ID, at point) bool {
	over, ok := s.over[id]
	return ok && !over.before(at)
}

// foresight is a survey in the eyes of one core.
type foresight struct {
	*Survey
	floors map[outbox]link.Seq
	keeps  []bool // of each role: it is a gateway, whose state outlives sessions
	any    bool   // one of them does
}

func (c *Core) foresight(s *Survey) foresight {
	f := foresight{Survey: s, floors: map[outbox]link.Seq{}}
	for _, e := range c.out {
		for _, snd := range e.senders {
			k := outbox{e.cfg.Name, e.to(snd)}
			f.floors[k] = s.floor(k, snd.Peers())
		}
	}
	for _, r := range c.cfg.Roles {
		_, gateway := r.(role.Gateway)
		f.keeps, f.any = append(f.keeps, gateway), f.any || gateway
	}
	return f
}

// idle reports whether a call need not be repeated: its session leaves further on, and then its roles have forgotten it
// ([role.Role.Drop]). Drops themselves are always repeated, because tombs remember their order; and gateways are told all.
func (f *foresight) idle(in *input, at point) bool {
	if in.op == opDrop || in.op == opPrivate || in.op == opRewired || !f.left(in.session, at) {
		return false
	}
	call := in.op == opData || in.op == opEnd || in.op == opMore
	return !f.any || call && in.role < len(f.keeps) && !f.keeps[in.role]
}

// first is the first record that recovery from a snapshot at a log index needs: those behind it, and those before it with frames
// that somebody has not acknowledged.
func (f *foresight) first(snapshot link.LogIndex) link.LogIndex {
	if !f.some {
		return 1
	}
	first := snapshot + 1
	for k, marks := range f.last {
		floor, ours := f.floors[k]
		for _, m := range marks {
			if ours && m.seq > floor {
				first = min(first, m.at)
			}
		}
	}
	return first
}
