package core

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// LogAnalysis reads the whole log once before recovery repeats the first record, as the analysis pass of ARIES does. Recovery then repeats
// only what still matters (N3). A log of many small sessions is mostly about sessions that have left. Their calls merge tables and compute
// queries, so they are the expensive part of a recovery, and their results are not needed any more. Most frames have been acknowledged,
// too.
//
// Rejected: to record that a session is over and rewrite the log without it (W6), and to take snapshots so often that little has to be
// repeated. Both cost all the time what this pass costs once.
//
// An empty analysis knows nothing: recovery then repeats everything.
type LogAnalysis struct {
	removes Removal
	dropped map[session.ID]position      // the last time that a session was dropped
	removed map[session.ID]position      // the last time that a gateway removed what it had of a session
	about   map[session.ID]link.LogIndex // the last record with an input or a frame of the session
	opened  map[session.ID]struct{}      // sessions that inputs name after the session was last dropped
	acked   map[outboxKey]map[link.NodeID]link.Seq
	last    map[outboxKey][]lastInRecord          // of each record with frames of the outbox, in the log's order
	of      map[outboxKey]map[session.ID]link.Seq // the last frame of each session in the outbox
	some    bool                                  // a record was added
	err     error                                 // of the first record that could not be read
}

// Removal reads a record that the gateway of a role has written itself ([role.Host.Record]). It returns the session of which the gateway
// then has nothing left that former calls have brought, and false if there is none.
type Removal func(i int, payload []byte) (session.ID, bool)

// position is a place between two inputs of the log: before input i of a record.
type position struct {
	at link.LogIndex
	i  int
}

func (p position) before(q position) bool { return p.at < q.at || p.at == q.at && p.i < q.i }

// lastInRecord says which frame of an outbox is the last one in a record.
type lastInRecord struct {
	at  link.LogIndex
	seq link.Seq
}

// NewLogAnalysis returns an empty analysis. removes may be nil: recovery then repeats all calls of gateways.
func NewLogAnalysis(removes Removal) *LogAnalysis {
	return &LogAnalysis{
		removes: removes, dropped: map[session.ID]position{}, removed: map[session.ID]position{}, opened: map[session.ID]struct{}{},
		about: map[session.ID]link.LogIndex{},
		acked: map[outboxKey]map[link.NodeID]link.Seq{}, last: map[outboxKey][]lastInRecord{}, of: map[outboxKey]map[session.ID]link.Seq{},
	}
}

// Add reads a record of the log. The caller adds all records in their order, or none. Recover reports a record that cannot be read.
// data is not kept.
func (a *LogAnalysis) Add(at link.LogIndex, data []byte) {
	a.some = true
	rec, err := record.Decode(data)
	if err != nil {
		if a.err == nil {
			a.err = fmt.Errorf("record %d: %w", at, err)
		}
		return
	}
	for i := range rec.Inputs {
		in, p := &rec.Inputs[i], position{at, i}
		a.about[in.Session] = at
		switch {
		case in.Op == record.Drop && a.dropped[in.Session].before(p):
			a.dropped[in.Session] = p
			delete(a.opened, in.Session)
		case in.Op == record.Private:
			a.private(in, p)
		case in.Op == record.Rewired: // of no session
		case in.Op == record.TakeOver: // may be of a session that has left: its tombstone notes it
		default:
			a.opened[in.Session] = struct{}{}
		}
	}
	a.forget(rec.Progress)
	for _, p := range rec.Progress {
		a.acknowledged(p)
	}
	for i := range rec.Frames {
		f := &rec.Frames[i]
		a.about[f.Frame.Session] = at
		k := outboxKey{f.Edge, f.To}
		if n := len(a.last[k]); n > 0 && a.last[k][n-1].at == at {
			a.last[k][n-1].seq = f.Frame.Seq
		} else {
			a.last[k] = append(a.last[k], lastInRecord{at, f.Frame.Seq})
		}
		if a.of[k] == nil {
			a.of[k] = map[session.ID]link.Seq{}
		}
		a.of[k][f.Frame.Session] = f.Frame.Seq
	}
}

func (a *LogAnalysis) private(in *record.Input, p position) {
	if a.removes == nil {
		return
	}
	if id, ok := a.removes(in.Role, in.Payload); ok {
		a.removed[id] = p
	}
}

// behind returns the sessions, sorted, that have had a frame after seq in an outbox.
func (a *LogAnalysis) behind(k outboxKey, seq link.Seq) (all []session.ID) {
	for id, last := range a.of[k] {
		if last > seq {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, func(a, b session.ID) int { return slices.Compare(a[:], b[:]) })
	return all
}

// LastOf returns the last record that has an input or a frame of a session, 0 if there is none.
func (a *LogAnalysis) LastOf(id session.ID) link.LogIndex { return a.about[id] }

// Open returns the sessions that are open where the log ends, sorted: those in its records and those in the snapshot. snapshot is nil if
// there is none; at is the index of the last record that it contains.
func (a *LogAnalysis) Open(snapshot []byte, at link.LogIndex) ([]session.ID, error) {
	open := maps.Clone(a.opened)
	if snapshot != nil {
		kept, err := sessionsOf(snapshot)
		if err != nil {
			return nil, err
		}
		for _, id := range kept {
			if !a.leaves(id, position{at + 1, 0}) {
				open[id] = struct{}{}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(open), func(a, b session.ID) int { return slices.Compare(a[:], b[:]) }), nil
}

// GiveUp makes recovery skip a session that has made the node's process die, as if the session left at the log's end. It is called before
// Recover. After recovery the caller aborts the session (Core.GiveUp).
func (a *LogAnalysis) GiveUp(id session.ID) { a.dropped[id] = position{at: math.MaxUint64} }

// forget drops outboxes that a record does not mention: the topology was without them then. An outbox that comes back begins empty, and its
// numbers continue after all that it has given out (see departed).
func (a *LogAnalysis) forget(progress []link.Progress) {
	for k := range a.acked {
		if !mentions(progress, k) {
			delete(a.acked, k)
			delete(a.last, k)
			delete(a.of, k)
		}
	}
}

func mentions(progress []link.Progress, k outboxKey) bool {
	return slices.ContainsFunc(progress, func(p link.Progress) bool { return p.Edge == k.edge && p.To == k.to })
}

func (a *LogAnalysis) acknowledged(p link.Progress) {
	k := outboxKey{p.Edge, p.To}
	if a.acked[k] == nil {
		a.acked[k] = map[link.NodeID]link.Seq{}
	}
	for _, r := range p.Acked {
		a.acked[k][r.Node] = max(a.acked[k][r.Node], r.Seq)
	}
}

// floor returns the last frame that all receivers of an outbox have acknowledged. A receiver that the log does not mention has acknowledged
// nothing yet.
func (a *LogAnalysis) floor(k outboxKey, receivers []link.NodeID) link.Seq {
	if len(receivers) == 0 {
		return 0
	}
	floor := a.acked[k][receivers[0]]
	for _, r := range receivers[1:] {
		floor = min(floor, a.acked[k][r])
	}
	return floor
}

// leaves reports whether the last drop of a session in the log is at a position or after it.
func (a *LogAnalysis) leaves(id session.ID, from position) bool {
	p, ok := a.dropped[id]
	return ok && !p.before(from)
}

// replayPlan is what the log analysis means for one core: what its recovery may skip.
type replayPlan struct {
	*LogAnalysis
	c      *Core
	floors map[outboxKey]link.Seq // up to which frames need not be reloaded
}

func (c *Core) replayPlan(a *LogAnalysis) replayPlan {
	p := replayPlan{LogAnalysis: a, c: c, floors: map[outboxKey]link.Seq{}}
	for _, o := range c.outboxes {
		p.floors[o.outboxKey] = a.floor(o.outboxKey, o.Peers())
	}
	return p
}

// skips reports whether a call need not be repeated, because its session leaves later in the log and its roles then forget it
// ([role.Role.Drop]). Drops themselves are always repeated, because tombstones keep their order. A gateway forgets a session later, by a
// record of its own: an output keeps an answer until its client closes the session. What opens a session is always repeated for gateways,
// since they keep its openers.
func (p *replayPlan) skips(in *record.Input, at position) bool {
	if in.Op == record.Drop || in.Op == record.Private || in.Op == record.Rewired || !p.leaves(in.Session, at) {
		return false
	}
	if len(p.c.gateways) == 0 {
		return true
	}
	call := in.Op == record.Data || in.Op == record.End || in.Op == record.More || in.Op == record.Spill
	return call && in.Role < len(p.c.cfg.Roles) && (!p.isGateway(in.Role) || at.before(p.removed[in.Session]))
}

func (p *replayPlan) isGateway(i int) bool {
	_, is := p.c.cfg.Roles[i].(role.Gateway)
	return is
}

// first returns the first record that recovery needs, if the snapshot contains everything up to the given record: the next record, or an
// earlier one with frames that a receiver has not acknowledged.
func (p *replayPlan) first(snapshot link.LogIndex) link.LogIndex {
	if !p.some {
		return 1
	}
	first := snapshot + 1
	for k, records := range p.last {
		floor, ours := p.floors[k]
		for _, r := range records {
			if ours && r.seq > floor {
				first = min(first, r.at)
			}
		}
	}
	return first
}
