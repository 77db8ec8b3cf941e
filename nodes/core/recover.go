package core

import (
	"bytes"
	"errors"
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
	progress []link.Progress        // of the newest state that was read
	last     map[outboxKey]link.Seq // the last number given out, as of the newest state that mentions the outbox
	gone     map[outboxKey]bool     // the newest record was written without the outbox
	rewired  bool                   // the newest state that was read mentions outboxes that the topology does not have
}

// Recover starts recovery. snapshot is nil if there is none; at is the index of the last record that it contains. The analysis
// has seen the whole log, or is empty.
func (c *Core) Recover(snapshot []byte, at link.LogIndex, a *LogAnalysis) (*Recovery, error) {
	if a.err != nil {
		return nil, a.err
	}
	r := &Recovery{c: c, at: at, plan: c.replayPlan(a), outboxes: map[outboxKey]*outbox{}, last: map[outboxKey]link.Seq{},
		gone: map[outboxKey]bool{}}
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
	if r.c.retired != "" {
		return nil // R18: what the log holds must not leave
	}
	r.c.confirmed = false
	rec, err := record.Decode(data)
	if err != nil {
		return fmt.Errorf("record %d: %w", at, err)
	}
	inSnapshot := at <= r.at
	if !inSnapshot {
		if err := r.replayInputs(rec, at); err != nil {
			return fmt.Errorf("record %d: %w", at, err)
		}
		r.giveUp(rec.Progress)
	}
	for i := range rec.Frames {
		f := &rec.Frames[i]
		if inSnapshot && r.gone[outboxKey{f.Edge, f.To}] {
			continue // the topology was without that outbox when the snapshot was taken
		}
		f.Frame.Life = rec.Life
		if err := r.reload(f, at); err != nil {
			return fmt.Errorf("record %d: %w", at, err)
		}
		if r.c.retired != "" {
			return nil
		}
	}
	if !inSnapshot {
		r.note(rec.Progress)
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

// note keeps what a record or a snapshot says of all outboxes. The last call has the newest state.
func (r *Recovery) note(progress []link.Progress) {
	r.progress, r.rewired = progress, false
	for _, p := range progress {
		r.last[outboxKey{p.Edge, p.To}] = p.Last
		if r.outbox(p) == nil {
			r.rewired = r.rewired || len(p.Acked) > 0
			r.c.departed.left(p)
		}
	}
}

// giveUp gives up the outboxes that a record does not mention: the topology was without them when it was written.
func (r *Recovery) giveUp(mentioned []link.Progress) {
	for _, o := range r.c.outboxes {
		was := r.gone[o.outboxKey]
		if r.gone[o.outboxKey] = !mentions(mentioned, o.outboxKey); r.gone[o.outboxKey] && !was {
			o.GiveUp(givenUp(max(o.Last(), r.last[o.outboxKey])))
		}
	}
}

// reload puts a frame back into its outbox, unless all receivers have acknowledged it.
func (r *Recovery) reload(f *record.Frame, at link.LogIndex) error {
	k := outboxKey{f.Edge, f.To}
	o := r.outboxes[k]
	if o == nil || f.Frame.Seq <= r.plan.floors[k] || f.Frame.Seq <= o.Last() {
		return nil
	}
	if size := len(f.Frame.Payload); size > r.c.cfg.Frame {
		return fmt.Errorf("frame %d of edge %s has %d bytes and has not arrived everywhere yet, and limits.frame was lowered to %d meanwhile: "+
			"write at least %d until the sessions of that time are over", f.Frame.Seq, f.Edge, size, r.c.cfg.Frame, size)
	}
	f.Frame.Edge, f.Frame.From = f.Edge, r.c.cfg.Self
	f.Frame.Payload = bytes.Clone(f.Frame.Payload)
	err := o.Reload(f.Frame, at)
	if errors.Is(err, link.ErrChanged) {
		// The log's own checksum is right, so the bits changed before the log took them. No receiver has taken this frame or a later one.
		r.c.retire(fmt.Sprintf("%v, says record %d", err, at))
		return nil
	}
	return err
}

// Done ends recovery.
func (r *Recovery) Done() error {
	if r.c.retired != "" {
		return nil
	}
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
		s.trace = r.c.cfg.Trace.Begin(s.ID, s.Analysis.Name, s.Trace, true)
		if s.ending != nil || s.nextEnd() >= 0 {
			r.c.ending = append(r.c.ending, s)
		}
	}
	r.failDeparted()
	if r.rewired {
		// The topology of a later start may have those outboxes again. This record does not mention them, so that start gives them up.
		r.c.record(record.Input{Op: record.Rewired})
	}
	return nil
}

// failDeparted fails the sessions that a receiver lacks frames of, if the topology no longer has that receiver (R12). Sessions that are
// open here fail by their wiring. A session that has left this node may still run in other nodes. To rely on their wiring was wrong: if the
// topology is changed back before they start under this one, they wait for ever for what the receiver would have sent, and the receiver has
// never heard of the session.
func (r *Recovery) failDeparted() {
	for _, p := range r.progress {
		o := r.outbox(p)
		for _, a := range p.Acked {
			if o != nil && slices.Contains(o.Peers(), a.Node) {
				continue
			}
			for _, id := range r.plan.behind(outboxKey{p.Edge, p.To}, a.Seq) {
				r.c.abort(id, fmt.Sprintf("node %s has left the topology, and node %s had not sent it all of the session: start the session again",
					a.Node, r.c.cfg.Self))
			}
		}
	}
}
