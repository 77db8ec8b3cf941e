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
	at       link.LogIndex // of the last record that the snapshot contains
	plan     replayPlan
	outboxes map[outboxKey]*outbox
	progress []link.Progress // of the newest state that was read
	foreign  bool            // the newest state that was read mentions links that the topology does not have
}

// Recover starts recovery. snapshot is nil if there is none; at is the index of the last record that it contains. The analysis
// has seen the whole log, or is empty.
func (c *Core) Recover(snapshot []byte, at link.LogIndex, a *LogAnalysis) (*Recovery, error) {
	if a.err != nil {
		return nil, a.err
	}
	r := &Recovery{c: c, at: at, plan: c.replayPlan(a), outboxes: map[outboxKey]*outbox{}}
	for _, o := range c.outboxes {
		r.outboxes[o.outboxKey] = o
	}
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
	r.c.confirmed = false
	rec, err := record.Decode(data)
	if err != nil {
		return fmt.Errorf("N3: record %d: %w", at, err)
	}
	inSnapshot := at <= r.at
	if !inSnapshot {
		if err := r.replayInputs(rec, at); err != nil {
			return fmt.Errorf("N3: record %d: %w", at, err)
		}
		r.resetOutboxes(rec.Progress)
	}
	for i := range rec.Frames {
		f := &rec.Frames[i]
		if inSnapshot && !mentions(r.progress, outboxKey{f.Edge, f.To}) {
			continue // the topology was without that outbox when the snapshot was taken
		}
		f.Frame.Life = rec.Life
		if err := r.reload(f, at); err != nil {
			return fmt.Errorf("record %d: %w", at, err)
		}
	}
	if !inSnapshot {
		r.progress, r.foreign = rec.Progress, r.hasForeign(rec)
		for _, p := range rec.Progress {
			if o := r.outbox(p); o != nil {
				for _, a := range p.Acked {
					o.Acknowledged(a)
				}
			}
		}
	}
	return nil
}

func (r *Recovery) outbox(p link.Progress) *outbox { return r.outboxes[outboxKey{p.Edge, p.To}] }

// resetOutboxes empties the outboxes that a record does not mention: the topology was without them then, and the receiver that is there now
// knows nothing of what was before.
func (r *Recovery) resetOutboxes(mentioned []link.Progress) {
	for _, o := range r.c.outboxes {
		if !mentions(mentioned, o.outboxKey) {
			o.Reset()
		}
	}
}

// hasForeign reports whether a record mentions links that the topology does not have any more.
func (r *Recovery) hasForeign(rec *record.Record) bool {
	gone := func(h link.Hwm) bool { return r.c.in[linkKey{h.Edge, h.From}] == nil }
	cut := func(p link.Progress) bool {
		o := r.outbox(p)
		return o == nil || slices.ContainsFunc(p.Acked, func(a link.Acked) bool { return !slices.Contains(o.Peers(), a.Node) })
	}
	return slices.ContainsFunc(rec.Hwms, gone) || slices.ContainsFunc(rec.Progress, cut)
}

// reload puts a frame back into its outbox, unless all receivers have acknowledged it.
func (r *Recovery) reload(f *record.Frame, at link.LogIndex) error {
	k := outboxKey{f.Edge, f.To}
	o := r.outboxes[k]
	if o == nil || f.Frame.Seq <= r.plan.floors[k] || f.Frame.Seq <= o.Last() {
		return nil
	}
	if size := len(f.Frame.Payload); size > r.c.cfg.Frame {
		return fmt.Errorf("R15: frame %d of edge %s has %d bytes and has not arrived everywhere yet, and limits.frame was lowered to %d meanwhile: "+
			"write at least %d until the sessions of that time are over", f.Frame.Seq, f.Edge, size, r.c.cfg.Frame, size)
	}
	f.Frame.Edge, f.Frame.From = f.Edge, r.c.cfg.Self
	f.Frame.Payload = bytes.Clone(f.Frame.Payload)
	return o.Reload(f.Frame, at)
}

// Done ends recovery.
func (r *Recovery) Done() error {
	for _, p := range r.progress {
		if o := r.outbox(p); o != nil {
			if err := o.Restored(p.Last, p.Life); err != nil {
				return err
			}
		}
	}
	for _, s := range role.ByID(r.c.sessions) {
		if why := r.c.rewired(s.Session); why != "" {
			r.c.abort(s.ID, why)
			continue
		}
		if s.ending != nil || s.nextEnd() >= 0 {
			r.c.ending = append(r.c.ending, s)
		}
	}
	if r.foreign {
		// A node that leaves the topology and comes back later has another log. What this node knew of the old log would then look like a
		// lost disk (R8), and fail sessions that the old log never saw. So it is forgotten for good now: a record makes the next snapshot
		// due, which mentions only links of the topology.
		r.c.record(record.Input{Op: record.Rewired})
	}
	return nil
}
