package core

import (
	"bytes"
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

func (r *Recovery) replayInputs(rec *record.Record, at link.LogIndex) error {
	for i := range rec.Inputs {
		in := &rec.Inputs[i]
		if r.plan.skips(in, position{at, i}) {
			continue
		}
		in.Payload = bytes.Clone(in.Payload) // the roles keep it
		if err := r.replayInput(in); err != nil {
			return err
		}
	}
	for _, h := range rec.Hwms {
		if l := r.c.in[linkKey{h.Edge, h.From}]; l != nil {
			l.recv.Restore(h)
		} else {
			r.c.departed.heard(h)
		}
	}
	return r.flush()
}

// flush discards what the repeated calls left to be emitted, because the record has it already.
func (r *Recovery) flush() error {
	for _, s := range role.ByID(r.c.sessions) {
		if s.err != nil {
			return fmt.Errorf("repeating what was stored gives another result: %w", s.err)
		}
		if !s.dirty {
			continue
		}
		s.dirty = false
		for i, ro := range r.c.cfg.Roles {
			if err := r.c.guard(s, i, noStream, func() error { return ro.Flush(s.ID, r.discardEmitter(i)) }); err != nil {
				return fmt.Errorf("repeating what was stored gives another result: %w", err)
			}
		}
	}
	return nil
}

func (r *Recovery) discardEmitter(i int) discardEmitter {
	return discardEmitter{(&chainEmitter{r.c, nil, i}).Partitions()}
}

func (r *Recovery) replayInput(in *record.Input) error {
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
		// A session that failed to open was dropped in the same record, so its error is not reported here.
		_ = c.open(s, in.Payload, linkKey{in.Edge, in.From}, false)
		return nil
	case record.Drop:
		o, err := decodeTombstone(in.Payload)
		if err != nil {
			return err
		}
		c.drop(in.Session, o, false)
		return nil
	case record.TakeOver:
		s, err := c.announced(in.Session, in.Payload)
		if err != nil {
			return err
		}
		c.takeOver(s, in.Payload, false)
		return nil
	case record.Rewired:
		return nil
	case record.Private:
		g, ok := c.cfg.Roles[in.Role].(role.Gateway)
		if !ok {
			return fmt.Errorf("role %d is not a gateway: the data directory belongs to another chain", in.Role)
		}
		return g.Apply(in.Payload)
	}
	s := c.sessions[in.Session]
	if s == nil {
		return fmt.Errorf("session %s is not open", in.Session)
	}
	return r.replayCall(s, in)
}

func (r *Recovery) replayCall(s *sess, in *record.Input) error {
	c := r.c
	if in.Stream >= len(s.ended) {
		return fmt.Errorf("stream %d of analysis %s, which has %d", in.Stream, s.Analysis.Name, len(s.ended))
	}
	ro, out := c.cfg.Roles[in.Role], r.discardEmitter(in.Role)
	s.dirty = true
	more := false
	ok := c.run(s, in.Role, in.Stream, func() (err error) {
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
		case record.Spill:
			err = spillAgain(ro, in)
		default:
			err = fmt.Errorf("unknown operation %d", in.Op)
		}
		return err
	})
	// A call that fails here failed when it was made, too, if its session was dropped in the same record. Otherwise another program wrote
	// the log, and flush reports the error.
	if ok && (in.Op == record.End || in.Op == record.More) {
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
