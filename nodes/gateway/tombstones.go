package gateway

import (
	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Tombstone is what a gateway remembers of an ended session.
type Tombstone struct {
	Outcome
	Holder
}

// Tombstones remember ended sessions, so that clients can be told what happened to them. The oldest one of the owner that has most is
// dropped first, so that a client with many sessions does not make the node forget those of others. Once the first input has dropped the
// tombstone of an id, the id may be used again. There are more tombstones than kept results and running sessions together, so no output
// still has the answer by then (R17): every session that ended at the input since has also ended at the outputs, or still runs there.
type Tombstones struct {
	bounded.Map[session.ID, Tombstone]
}

func newTombstones(n int) Tombstones {
	return Tombstones{bounded.NewMap[session.ID, Tombstone](n)}
}

// Put remembers what happened to a session. A failure stays; a success may later become closed or expired. If s has
// fewer openers than are known, the known holder stays.
func (t *Tombstones) Put(id session.ID, s Tombstone) {
	old, _ := t.Get(id)
	if old.Claimed() && old.Owner != s.Owner { // a different session of the same id
		t.Delete(id)
		old = Tombstone{}
	}
	if len(s.Openers) < len(old.Openers) {
		s.Holder = old.Holder
	}
	if old.Failed() {
		s.Outcome = old.Outcome
	}
	if _, known := t.Get(id); !known && t.Full() {
		t.makeRoom()
	}
	t.Map.Put(id, s)
}

func (t *Tombstones) makeRoom() {
	owners := role.Tally{}
	for _, id := range t.Keys() {
		s, _ := t.Get(id)
		owners[s.Owner]++
	}
	most := owners.Most()
	for _, id := range t.Keys() {
		if s, _ := t.Get(id); s.Owner == most {
			t.Delete(id)
			return
		}
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
