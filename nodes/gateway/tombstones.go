package gateway

import (
	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Tombstone is what a gateway remembers of a session that is over.
type Tombstone struct {
	Outcome
	Opener session.TokenHash // zero: the gateway never heard who opened it
}

// Tombstones remember sessions that are over, so that clients can be told what became of them. The oldest are dropped first.
type Tombstones struct {
	bounded.Map[session.ID, Tombstone]
}

func newTombstones() Tombstones {
	return Tombstones{bounded.NewMap[session.ID, Tombstone](role.Remembered)}
}

// Put remembers what became of a session. A failure stays; an answer may be closed, or kept long enough, later.
func (t *Tombstones) Put(id session.ID, s Tombstone) {
	if old, ok := t.Get(id); !ok || !old.Failed() {
		t.Map.Put(id, s)
	}
}

// Recent returns the last n sessions, oldest first.
func (t *Tombstones) Recent(n int) []session.ID {
	ids := t.Keys()
	return ids[max(0, len(ids)-n):]
}

// Append appends everything that is remembered.
func (t *Tombstones) Append(b []byte) []byte {
	b = wire.AppendArray(b, len(t.Keys()))
	for _, id := range t.Keys() {
		s, _ := t.Get(id)
		b = wire.AppendArray(b, 4)
		b = wire.AppendBin(wire.AppendBin(b, id[:]), s.Opener[:])
		b = s.Outcome.Append(b)
	}
	return b
}

// Read reads what Append wrote.
func (t *Tombstones) Read(d *wire.Reader) {
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(4)
		id := ReadID(d)
		var s Tombstone
		d.Fixed(s.Opener[:])
		s.Outcome = ReadOutcome(d)
		t.Put(id, s)
	}
}
