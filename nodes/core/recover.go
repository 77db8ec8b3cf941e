package core

import (
	"bytes"
	"fmt"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// Recovery brings a new core to where the last stored commit left the node (N3): the snapshot, then every record of the
// log in order. Records up to the snapshot's log index give back only frames that are not acknowledged yet.
type Recovery struct {
	c        *Core
	at       link.LogIndex
	plan     replayPlan
	progress []link.Progress
	foreign  bool // the newest state that was read mentions links that the topology no longer has
}

// Recover starts recovery. snapshot is nil if there is none; at is the index of the last record that it contains. The analysis
// has seen the whole log, or is empty.
func (c *Core) Recover(snapshot []byte, at link.LogIndex, s *LogAnalysis) (*Recovery, error) {
	if s.err != nil {
		return nil, s.err
	}
	r := &Recovery{c: c, at: at, plan: c.replayPlan(s)}
	if snapshot == nil {
		return r, nil
	}
	if err := r.restore(snapshot); err != nil {
		return nil, fmt.Errorf("snapshot of node %s: %w", c.cfg.Self, err)
	}
	return r, nil
}

// First is the first record to replay; those before it, if there are any, change nothing.
func (r *Recovery) First() link.LogIndex { return r.plan.first(r.at) }

// Replay repeats one record. data may be reused by the caller afterwards.
func (r *Recovery) Replay(at link.LogIndex, data []byte) error {
	rec, err := record.Decode(data)
	if err != nil {
		return fmt.Errorf("N3: record %d: %w", at, err)
	}
	if at > r.at {
		if err := r.repeat(rec, at); err != nil {
			return fmt.Errorf("N3: record %d: %w", at, err)
		}
	}
	if at > r.at {
		r.forget(rec.Progress)
	}
	for i := range rec.Frames {
		f := &rec.Frames[i]
		if at <= r.at && !mentions(r.progress, outboxKey{f.Edge, f.To}) {
			continue // the snapshot knows better: that outbox was no more
		}
		if err := r.reload(f, at); err != nil {
			return fmt.Errorf("record %d: %w", at, err)
		}
	}
	if at > r.at {
		r.progress = rec.Progress
		r.foreign = r.hasForeign(rec)
		for _, p := range rec.Progress {
			r.acknowledged(p)
		}
	}
	return nil
}

// forget makes outboxes new that a record does not tell of: the topology was without them then, and whoever is at the other end now knows
// nothing of what was before.
func (r *Recovery) forget(told []link.Progress) {
	for _, e := range r.c.out {
		for _, s := range e.senders {
			if !mentions(told, outboxKey{e.cfg.Name, e.to(s)}) {
				s.Reset()
			}
		}
	}
}

// hasForeign says whether a record mentions of links that the topology does not have any more.
func (r *Recovery) hasForeign(rec *record.Record) bool {
	gone := func(h link.Hwm) bool { return r.c.in[linkKey{h.Edge, h.From}] == nil }
	cut := func(p link.Progress) bool {
		s := r.sender(p.Edge, p.To)
		return s == nil || slices.ContainsFunc(p.Acked, func(a link.Acked) bool { return !slices.Contains(s.Peers(), a.Node) })
	}
	return slices.ContainsFunc(rec.Hwms, gone) || slices.ContainsFunc(rec.Progress, cut)
}

// reload puts a frame back into its outbox, unless it was acknowledged by everybody.
func (r *Recovery) reload(f *record.Frame, at link.LogIndex) error {
	if f.Frame.Seq <= r.plan.floors[outboxKey{f.Edge, f.To}] {
		return nil
	}
	s := r.sender(f.Edge, f.To)
	if s == nil || f.Frame.Seq <= s.Last() {
		return nil
	}
	f.Frame.Edge, f.Frame.From = f.Edge, r.c.cfg.Self
	f.Frame.Payload = bytes.Clone(f.Frame.Payload)
	return s.Reload(f.Frame, at)
}

// Done ends recovery.
func (r *Recovery) Done() error {
	for _, p := range r.progress {
		if s := r.sender(p.Edge, p.To); s != nil {
			if err := s.Restored(p.Last); err != nil {
				return err
			}
		}
	}
	for _, s := range r.c.sessionsByID() {
		if why := r.c.rewired(s.Session); why != "" {
			r.c.abort(s.ID, why)
			continue
		}
		if s.ending != nil || s.nextEnd() >= 0 {
			r.c.ending = append(r.c.ending, s)
		}
	}
	if r.foreign {
		// A node that leaves the topology and comes back later comes with another log. What was known of the old one would then be
		// taken for a lost disk (R8), and fail sessions that it never saw. So it is forgotten for good now: a record makes the next
		// snapshot due, which mentions only links of the topology.
		r.c.record(record.Input{Op: record.Rewired})
	}
	return nil
}

func (r *Recovery) sender(edge string, to link.NodeID) *link.Sender {
	for _, e := range r.c.out {
		if e.cfg.Name == edge {
			return e.sender(to)
		}
	}
	return nil
}

func (r *Recovery) acknowledged(p link.Progress) {
	if s := r.sender(p.Edge, p.To); s != nil {
		for _, a := range p.Acked {
			s.Acknowledged(a)
		}
	}
}

func (r *Recovery) repeat(rec *record.Record, at link.LogIndex) error {
	for i := range rec.Inputs {
		in := &rec.Inputs[i]
		if r.plan.skips(in, position{at, i}) {
			continue
		}
		in.Payload = bytes.Clone(in.Payload) // the roles keep it
		if err := r.repeatInput(in); err != nil {
			return err
		}
	}
	for _, h := range rec.Hwms {
		if l := r.c.in[linkKey{h.Edge, h.From}]; l != nil {
			l.recv.Restore(h)
		}
	}
	return r.flush()
}

// flush throws away what the repeated calls left to be emitted: it is in the record.
func (r *Recovery) flush() error {
	for _, s := range r.c.sessionsByID() {
		if s.err != nil {
			return fmt.Errorf("repeating what was stored gives another result: %w", s.err)
		}
		if !s.dirty {
			continue
		}
		s.dirty = false
		for i, ro := range r.c.cfg.Roles {
			if err := r.c.guard(s, i, func() error { return ro.Flush(s.ID, r.discardEmitter(i)) }); err != nil {
				return fmt.Errorf("repeating what was stored gives another result: %w", err)
			}
		}
	}
	return nil
}

func (r *Recovery) discardEmitter(i int) discardEmitter {
	return discardEmitter{(&chainEmitter{r.c, nil, i}).Partitions()}
}

func (r *Recovery) repeatInput(in *record.Input) error {
	c := r.c
	if in.Role >= len(c.cfg.Roles) {
		return fmt.Errorf("role %d of %d: the data directory belongs to another chain", in.Role, len(c.cfg.Roles))
	}
	switch in.Op {
	case record.Open:
		s, err := c.announced(in.Session, in.Payload)
		if err != nil {
			return err
		}
		// A session that failed to open was dropped in the same record; its error is not ours to report.
		_ = c.open(s, in.Payload, linkKey{in.Edge, in.From}, false)
		return nil
	case record.Drop:
		o, err := decodeOutcome(in.Payload)
		if err != nil {
			return err
		}
		c.drop(in.Session, o, false)
		return nil
	case record.Rewired:
		return nil
	case record.Private:
		g, ok := c.cfg.Roles[in.Role].(role.Gateway)
		if !ok {
			return fmt.Errorf("role %d is no gateway: the data directory belongs to another chain", in.Role)
		}
		return g.Apply(in.Payload)
	}
	s := c.sessions[in.Session]
	if s == nil {
		return fmt.Errorf("session %s is not open", in.Session)
	}
	return r.repeatCall(s, in)
}

func (r *Recovery) repeatCall(s *sess, in *record.Input) error {
	c := r.c
	if in.Stream >= len(s.ended) {
		return fmt.Errorf("stream %d of analysis %s, which has %d", in.Stream, s.Analysis.Name, len(s.ended))
	}
	ro, out := c.cfg.Roles[in.Role], r.discardEmitter(in.Role)
	s.dirty = true
	more := false
	err := c.guard(s, in.Role, func() (err error) {
		switch in.Op {
		case record.Data:
			_, err = ro.Take(s.ID, role.Message{Stream: in.Stream, Payload: in.Payload}, out)
		case record.Join:
			s.opened[linkKey{in.Edge, in.From}] = true
		case record.Ended:
			c.markEos(s, in.Stream, linkKey{in.Edge, in.From})
		case record.End:
			if err = ro.Flush(s.ID, out); err == nil {
				more, err = ro.End(s.ID, in.Stream, out)
			}
		case record.More:
			more, err = ro.More(s.ID, out)
		default:
			err = fmt.Errorf("unknown operation %d", in.Op)
		}
		return err
	})
	if err != nil {
		// The call failed when it was made, too, if its session was dropped in the same record; else this is not the program
		// that wrote the log.
		s.fail(err)
		return nil
	}
	if in.Op == record.End || in.Op == record.More {
		r.ended(s, in, more)
	}
	return nil
}

func (r *Recovery) ended(s *sess, in *record.Input, more bool) {
	s.ending = nil
	if more {
		s.ending = &ending{in.Stream, in.Role}
	} else if in.Role == len(r.c.cfg.Roles)-1 {
		s.passed[in.Stream] = true
	}
}
