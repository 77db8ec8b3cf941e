package gateway

import (
	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// maxTombstones is how many sessions that are over a gateway remembers, so that it can tell clients what became of them.
const maxTombstones = 1024

// Tombstones remember sessions that are over. The oldest are dropped first.
type Tombstones struct {
	bounded.Map[session.ID, Outcome]
}

func newTombstones() Tombstones {
	return Tombstones{bounded.NewMap[session.ID, Outcome](maxTombstones)}
}

// Put remembers what became of a session. The first outcome stays.
func (t *Tombstones) Put(id session.ID, o Outcome) {
	if _, ok := t.Get(id); !ok {
		t.Map.Put(id, o)
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
		o, _ := t.Get(id)
		b = wire.AppendArray(b, 3)
		b = o.Append(wire.AppendBin(b, id[:]))
	}
	return b
}

// Read reads what Append wrote.
func (t *Tombstones) Read(d *wire.Reader) {
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(3)
		id := ReadID(d)
		t.Put(id, ReadOutcome(d))
	}
}
