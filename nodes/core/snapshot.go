package core

import (
	"bytes"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// Snapshot returns the durable state, without the frames, which stay in the log (N3). It is taken while no commit is being built, for
// example right after Seal. It then contains the commit that Seal returned. It is saved once that commit is stored, with the commit's log
// index. So a busy node can take snapshots without a pause.
func (c *Core) Snapshot() []byte {
	if !c.build.empty() {
		panic("N3: a snapshot is taken in the middle of a commit")
	}
	rec := record.Record{Progress: append(c.progress(), c.departed.out...), Hwms: slices.Clone(c.departed.in)}
	for _, l := range c.inOrder {
		rec.Hwms = append(rec.Hwms, l.recv.Hwm())
	}
	b := wire.AppendArray(nil, 4)
	b = wire.AppendBin(b, bytes.Join(rec.Encode(), nil))
	b = c.tombstones.append(b)
	b = wire.AppendArray(b, len(c.sessions))
	for _, s := range role.ByID(c.sessions) {
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
