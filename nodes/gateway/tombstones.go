package gateway

import (
	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// Tombstone is what a gateway remembers of a session that is over.
type Tombstone struct {
	Outcome
	Holder
}

// Tombstones remember sessions that are over, so that clients can be told what became of them. The oldest are dropped first. There are more of
// them than results are kept and sessions run: so the first input, which lets an id be used again when it has forgotten it, never does so
// while an output still has the answer (R17). All that ended at the input since then has ended at the outputs, too, or runs.
type Tombstones struct {
	bounded.Map[session.ID, Tombstone]
}

func newTombstones(n int) Tombstones {
	return Tombstones{bounded.NewMap[session.ID, Tombstone](n)}
}

// Put remembers what became of a session. A failure stays; an answer may be closed, or kept long enough, later. Openers that are not told are
// those that were.
func (t *Tombstones) Put(id session.ID, s Tombstone) {
	old, _ := t.Get(id)
	if old.Claimed() && old.Owner != s.Owner { // it is another session
		t.Delete(id)
		old = Tombstone{}
	}
	if len(s.Openers) < len(old.Openers) {
		s.Holder = old.Holder
	}
	if old.Failed() {
		s.Outcome = old.Outcome
	}
	t.Map.Put(id, s)
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
		b = wire.AppendArray(b, 5)
		b = s.Holder.Append(wire.AppendBin(b, id[:]))
		b = s.Outcome.Append(b)
	}
	return b
}

// Read reads what Append wrote.
func (t *Tombstones) Read(d *wire.Reader) {
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(5)
		id := ReadID(d)
		s := Tombstone{Holder: ReadHolder(d)}
		s.Outcome = ReadOutcome(d)
		t.Put(id, s)
	}
}
