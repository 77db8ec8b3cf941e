package core

import (
	"bytes"
	"fmt"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

func readLinks(d *wire.Reader) map[linkKey]bool {
	set := map[linkKey]bool{}
	for n := d.Array() / 2; n > 0; n-- {
		set[linkKey{d.String(), link.NodeID(d.String())}] = true
	}
	return set
}

func (r *Recovery) restore(data []byte) error {
	r.c.confirmed = false
	d := wire.NewReader(data)
	d.ArrayOf(4)
	rec, err := record.Decode(d.Bytes())
	if err != nil {
		return err
	}
	for _, h := range rec.Hwms {
		if l := r.c.in[linkKey{h.Edge, h.From}]; l != nil {
			l.recv.Restore(h)
		} else {
			r.c.departed.heard(h)
		}
	}
	r.note(rec.Progress)
	for _, o := range r.c.outboxes {
		r.restoreOutbox(o, rec.Progress)
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

// restoreOutbox gives an outbox its state in a snapshot. If the snapshot gives the outbox up or does not have it, the topology was without
// it then.
func (r *Recovery) restoreOutbox(o *outbox, progress []link.Progress) {
	i := slices.IndexFunc(progress, func(p link.Progress) bool { return p.Edge == o.edge && p.To == o.to })
	if i >= 0 && len(progress[i].Acked) > 0 {
		o.Restore(progress[i])
		return
	}
	r.gone[o.outboxKey] = true
	if i >= 0 {
		o.GiveUp(progress[i].Last)
	}
}

func (r *Recovery) restoreSession(d *wire.Reader) error {
	id, announcement, opened := readSession(d)
	if d.Err() != nil {
		return d.Err()
	}
	leaves := r.plan.leaves(id, position{r.at + 1, 0})
	if leaves && len(r.c.gateways) == 0 {
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
		if leaves && !r.plan.isGateway(i) {
			continue // its calls are not repeated either, and restoring a session that was given up may make the process die again
		}
		if err := r.c.guard(x, i, noStream, func() error { return ro.Restore(id, bytes.Clone(state)) }); err != nil {
			return err
		}
	}
	return nil
}

// readSession reads how a session begins in a snapshot.
func readSession(d *wire.Reader) (id session.ID, announcement []byte, opened map[linkKey]bool) {
	d.ArrayOf(6)
	d.Fixed(id[:])
	return id, bytes.Clone(d.Bytes()), readLinks(d)
}

// sessionsOf reads which sessions a snapshot has.
func sessionsOf(snapshot []byte) (ids []session.ID, err error) {
	d := wire.NewReader(snapshot)
	d.ArrayOf(4)
	d.Bytes()
	passed := newTombstones()
	passed.read(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		id, _, _ := readSession(&d)
		ids = append(ids, id)
		if err := skipSession(&d); err != nil {
			break
		}
	}
	if d.Err() != nil {
		return nil, fmt.Errorf("the sessions of the snapshot: %w", d.Err())
	}
	return ids, nil
}

// skipSession reads the rest of a session: its streams, its ending, its roles.
func skipSession(d *wire.Reader) error {
	for range 3 {
		d.Skip(sessionDepth)
	}
	return d.Err()
}

const sessionDepth = 4 // how deep arrays are nested in a session

func restoreStream(d *wire.Reader, x *sess, i int) {
	d.ArrayOf(3)
	x.ended[i], x.passed[i] = d.Bool(), d.Bool()
	x.eos[i] = readLinks(d)
}
