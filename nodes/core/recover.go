package core

import (
	"bytes"
	"fmt"

	"posta/link"
	"posta/nodes/role"
	"posta/session"
	"posta/wire"
)

// Recovery brings a new core to where the last stored commit left the node (N3): the snapshot, then every record of the
// log in order. Records up to the snapshot's place give back only frames that are not acknowledged yet.
type Recovery struct {
	c        *Core
	at       link.Place
	progress []link.Progress
}

// Recover starts recovery. snapshot is nil if there is none; at is the place of the last record that it contains.
func (c *Core) Recover(snapshot []byte, at link.Place) (*Recovery, error) {
	r := &Recovery{c: c, at: at}
	if snapshot == nil {
		return r, nil
	}
	if err := r.restore(snapshot); err != nil {
		return nil, fmt.Errorf("snapshot of node %s: %w", c.cfg.Self, err)
	}
	return r, nil
}

// Replay repeats one record. data may be reused by the caller afterwards.
func (r *Recovery) Replay(at link.Place, data []byte) error {
	rec, err := decodeRecord(bytes.Clone(data))
	if err != nil {
		return fmt.Errorf("N3: record %d: %w", at, err)
	}
	if at > r.at {
		if err := r.repeat(rec); err != nil {
			return fmt.Errorf("N3: record %d: %w", at, err)
		}
	}
	for i := range rec.frames {
		f := &rec.frames[i]
		if s := r.sender(f.edge, f.to); s != nil {
			f.frame.Edge, f.frame.From = f.edge, r.c.cfg.Self
			if err := s.Reload(f.frame, at); err != nil {
				return fmt.Errorf("record %d: %w", at, err)
			}
		}
	}
	if at > r.at {
		for _, p := range rec.progress {
			r.acknowledged(p)
		}
	}
	return nil
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
	for _, s := range r.c.inOrderOfID() {
		if s.ending != nil || s.nextEnd() >= 0 {
			r.c.ending = append(r.c.ending, s)
		}
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

func (r *Recovery) repeat(rec *record) error {
	for i := range rec.inputs {
		if err := r.repeatInput(&rec.inputs[i]); err != nil {
			return err
		}
	}
	for _, h := range rec.hwms {
		if l := r.c.in[linkKey{h.Edge, h.From}]; l != nil {
			l.recv.Restore(h)
		}
	}
	return r.flush()
}

// flush throws away what the repeated calls left to be emitted: it is in the record.
func (r *Recovery) flush() error {
	for _, s := range r.c.inOrderOfID() {
		if s.err != nil {
			return fmt.Errorf("repeating what was stored gives another result: %w", s.err)
		}
		if !s.dirty {
			continue
		}
		s.dirty = false
		for i, ro := range r.c.cfg.Roles {
			if err := r.c.guard(s, i, func() error { return ro.Flush(s.ID, r.discard(i)) }); err != nil {
				return fmt.Errorf("repeating what was stored gives another result: %w", err)
			}
		}
	}
	return nil
}

func (r *Recovery) discard(i int) discard {
	return discard{(&outlet{r.c, nil, i}).Partitions()}
}

func (r *Recovery) repeatInput(in *input) error {
	c := r.c
	if in.role >= len(c.cfg.Roles) {
		return fmt.Errorf("role %d of %d: the data directory belongs to another chain", in.role, len(c.cfg.Roles))
	}
	switch in.op {
	case opOpen:
		s, err := c.announced(in.session, in.payload)
		if err != nil {
			return err
		}
		// A session that failed to open was dropped in the same record; its error is not ours to report.
		_ = c.open(s, in.payload, linkKey{in.edge, in.from}, false)
		return nil
	case opDrop:
		o, err := decodeOutcome(in.payload)
		if err != nil {
			return err
		}
		c.drop(in.session, o, false)
		return nil
	case opPrivate:
		g, ok := c.cfg.Roles[in.role].(role.Gateway)
		if !ok {
			return fmt.Errorf("role %d is no gateway: the data directory belongs to another chain", in.role)
		}
		return g.Apply(in.payload)
	}
	s := c.sessions[in.session]
	if s == nil {
		return fmt.Errorf("session %s is not open", in.session)
	}
	return r.repeatCall(s, in)
}

func (r *Recovery) repeatCall(s *sess, in *input) error {
	c := r.c
	if in.stream >= len(s.ended) {
		return fmt.Errorf("stream %d of analysis %s, which has %d", in.stream, s.Analysis.Name, len(s.ended))
	}
	ro, out := c.cfg.Roles[in.role], r.discard(in.role)
	s.dirty = true
	more := false
	err := c.guard(s, in.role, func() (err error) {
		switch in.op {
		case opData:
			_, err = ro.Take(s.ID, role.Message{Stream: in.stream, Payload: in.payload}, out)
		case opJoin:
			s.opened[linkKey{in.edge, in.from}] = true
		case opEos:
			c.markEos(s, in.stream, linkKey{in.edge, in.from})
		case opEnd:
			if err = ro.Flush(s.ID, out); err == nil {
				more, err = ro.End(s.ID, in.stream, out)
			}
		case opMore:
			more, err = ro.More(s.ID, out)
		default:
			err = fmt.Errorf("unknown operation %d", in.op)
		}
		return err
	})
	if err != nil {
		// The call failed when it was made, too, if its session was dropped in the same record; else this is not the program
		// that wrote the log.
		s.fail(err)
		return nil
	}
	if in.op == opEnd || in.op == opMore {
		r.ended(s, in, more)
	}
	return nil
}

func (r *Recovery) ended(s *sess, in *input, more bool) {
	s.ending = nil
	if more {
		s.ending = &ending{in.stream, in.role}
	} else if in.role == len(r.c.cfg.Roles)-1 {
		s.passed[in.stream] = true
	}
}

// Snapshot returns the durable state, without the frames, which stay in the log (N3). It is taken when nothing is being
// built: right after Seal, for example, and then it contains the commit that Seal returned, and is saved after that commit
// is stored, at its place. So a busy node can take snapshots without standing still.
func (c *Core) Snapshot() []byte {
	if !c.build.empty() {
		panic("N3: a snapshot is taken in the middle of a commit")
	}
	rec := record{}
	for _, l := range c.inOrder {
		rec.hwms = append(rec.hwms, l.recv.Hwm())
	}
	for _, e := range c.out {
		for _, s := range e.senders {
			rec.progress = append(rec.progress, e.progress(s))
		}
	}
	b := wire.AppendArray(nil, 4)
	b = wire.AppendBin(b, bytes.Join(rec.encode(), nil))
	b = c.tombs.append(b)
	b = wire.AppendArray(b, len(c.sessions))
	for _, s := range c.inOrderOfID() {
		b = c.appendSession(b, s)
	}
	b = wire.AppendArray(b, len(c.cfg.Roles))
	for _, r := range c.cfg.Roles {
		var all []byte
		if g, ok := r.(role.Gateway); ok {
			all = g.SnapshotAll(nil)
		}
		b = wire.AppendBin(b, all)
	}
	return b
}

func (c *Core) appendSession(b []byte, s *sess) []byte {
	b = wire.AppendArray(b, 6)
	b = wire.AppendBin(b, s.ID[:])
	b = wire.AppendBin(b, s.announcement)
	b = c.appendLinks(b, s.opened)
	b = wire.AppendArray(b, len(s.eos))
	for i := range s.eos {
		b = c.appendStream(b, s, i)
	}
	if s.ending == nil {
		b = wire.AppendArray(b, 0)
	} else {
		b = wire.AppendArray(b, 2)
		b = wire.AppendUint(b, uint64(s.ending.stream))
		b = wire.AppendUint(b, uint64(s.ending.role))
	}
	b = wire.AppendArray(b, len(c.cfg.Roles))
	for _, r := range c.cfg.Roles {
		b = wire.AppendBin(b, r.Snapshot(s.ID, nil))
	}
	return b
}

func (c *Core) appendStream(b []byte, s *sess, i int) []byte {
	b = wire.AppendArray(b, 3)
	b = wire.AppendBool(b, s.ended[i])
	b = wire.AppendBool(b, s.passed[i])
	return c.appendLinks(b, s.eos[i])
}

// appendLinks appends a set of links, in an order that does not depend on the map.
func (c *Core) appendLinks(b []byte, set map[linkKey]bool) []byte {
	b = wire.AppendArray(b, 2*len(set))
	for _, l := range c.inOrder {
		if k := l.key(); set[k] {
			b = wire.AppendString(wire.AppendString(b, k.edge), string(k.from))
		}
	}
	if k := (linkKey{from: c.cfg.Self}); set[k] {
		b = wire.AppendString(wire.AppendString(b, k.edge), string(k.from))
	}
	return b
}

func readLinks(d *wire.Reader) map[linkKey]bool {
	set := map[linkKey]bool{}
	for n := d.Array() / 2; n > 0; n-- {
		set[linkKey{d.String(), link.NodeID(d.String())}] = true
	}
	return set
}

func (r *Recovery) restore(data []byte) error {
	d := wire.NewReader(data)
	d.ArrayOf(4)
	rec, err := decodeRecord(d.Bytes())
	if err != nil {
		return err
	}
	for _, h := range rec.hwms {
		if l := r.c.in[linkKey{h.Edge, h.From}]; l != nil {
			l.recv.Restore(h)
		}
	}
	r.progress = rec.progress
	for _, p := range rec.progress {
		if s := r.sender(p.Edge, p.To); s != nil {
			s.Restore(p)
		}
	}
	r.c.tombs.read(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		if err := r.restoreSession(&d); err != nil {
			return err
		}
	}
	n := d.Array()
	if d.Err() == nil && n != len(r.c.cfg.Roles) {
		return fmt.Errorf("it has %d roles, the node %d: the data directory belongs to another chain", n, len(r.c.cfg.Roles))
	}
	for _, ro := range r.c.cfg.Roles {
		all := d.Bytes()
		if g, ok := ro.(role.Gateway); ok && d.Err() == nil {
			if err := g.RestoreAll(bytes.Clone(all)); err != nil {
				return err
			}
		}
	}
	return d.Done()
}

func (r *Recovery) restoreSession(d *wire.Reader) error {
	d.ArrayOf(6)
	var id session.ID
	copy(id[:], d.Bytes())
	announcement := bytes.Clone(d.Bytes())
	opened := readLinks(d)
	if d.Err() != nil {
		return d.Err()
	}
	s, err := r.c.announced(id, announcement)
	if err != nil {
		return err
	}
	if err := r.c.open(s, announcement, linkKey{}, false); err != nil {
		return err
	}
	x := r.c.sessions[id]
	x.opened = opened
	if n := d.Array(); d.Err() == nil && n != len(x.eos) {
		return fmt.Errorf("session %s has %d streams, analysis %s has %d", id, n, s.Analysis.Name, len(x.eos))
	}
	for i := range x.eos {
		restoreStream(d, x, i)
	}
	if d.Array() == 2 {
		x.ending = &ending{stream: int(d.Uint()), role: int(d.Uint())}
	}
	if n := d.Array(); d.Err() == nil && n != len(r.c.cfg.Roles) {
		return fmt.Errorf("session %s has %d roles, the node %d", id, n, len(r.c.cfg.Roles))
	}
	for i, ro := range r.c.cfg.Roles {
		state := d.Bytes()
		if d.Err() != nil {
			return d.Err()
		}
		if err := r.c.guard(x, i, func() error { return ro.Restore(id, bytes.Clone(state)) }); err != nil {
			return err
		}
	}
	return nil
}

func restoreStream(d *wire.Reader, x *sess, i int) {
	d.ArrayOf(3)
	x.ended[i], x.passed[i] = d.Bool(), d.Bool()
	x.eos[i] = readLinks(d)
}
