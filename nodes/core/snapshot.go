package core

import (
	"bytes"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Snapshot returns the durable state, without the frames, which stay in the log (N3). It is taken when nothing is being
// built: right after Seal, for example, and then it contains the commit that Seal returned, and is saved after that commit
// is stored, with its log index. So a busy node can take snapshots without standing still.
func (c *Core) Snapshot() []byte {
	if !c.build.empty() {
		panic("N3: a snapshot is taken in the middle of a commit")
	}
	rec := record.Record{}
	for _, l := range c.inOrder {
		rec.Hwms = append(rec.Hwms, l.recv.Hwm())
	}
	for _, e := range c.out {
		for _, s := range e.senders {
			rec.Progress = append(rec.Progress, e.progress(s))
		}
	}
	b := wire.AppendArray(nil, 4)
	b = wire.AppendBin(b, bytes.Join(rec.Encode(), nil))
	b = c.tombstones.append(b)
	b = wire.AppendArray(b, len(c.sessions))
	for _, s := range c.sessionsByID() {
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
		b = wire.AppendBinOf(b, func(b []byte) []byte { return r.Snapshot(s.ID, b) })
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
	rec, err := record.Decode(d.Bytes())
	if err != nil {
		return err
	}
	for _, h := range rec.Hwms {
		if l := r.c.in[linkKey{h.Edge, h.From}]; l != nil {
			l.recv.Restore(h)
		}
	}
	r.progress, r.foreign = rec.Progress, r.hasForeign(rec)
	for _, p := range rec.Progress {
		if s := r.sender(p.Edge, p.To); s != nil {
			s.Restore(p)
		}
	}
	r.c.tombstones.read(&d)
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
	d.Fixed(id[:])
	announcement := bytes.Clone(d.Bytes())
	opened := readLinks(d)
	if d.Err() != nil {
		return d.Err()
	}
	if !r.plan.anyGateway && r.plan.leaves(id, position{r.at + 1, 0}) {
		return skipSession(d)
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

// skipSession reads the rest of a session that has left, says the log behind the snapshot: its streams, its ending, its roles.
func skipSession(d *wire.Reader) error {
	for range 3 {
		d.Skip(sessionDepth)
	}
	return d.Err()
}

const sessionDepth = 4 // of arrays in a session

func restoreStream(d *wire.Reader, x *sess, i int) {
	d.ArrayOf(3)
	x.ended[i], x.passed[i] = d.Bool(), d.Bool()
	x.eos[i] = readLinks(d)
}
