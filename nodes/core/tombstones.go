package core

import (
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// tombstones remembers sessions that have left, so that what still comes for them is ignored and they do not come to life
// again. The oldest are forgotten first: by then nothing of them is under way, since every link is first in, first out and
// bounded by its window.
type tombstones struct {
	cap   int
	order []session.ID
	what  map[session.ID]role.Outcome
}

const maxTombstones = 1024

func newTombstones(n int) tombstones { return tombstones{cap: n, what: map[session.ID]role.Outcome{}} }

func (t *tombstones) get(id session.ID) (role.Outcome, bool) {
	o, ok := t.what[id]
	return o, ok
}

func (t *tombstones) put(id session.ID, o role.Outcome) {
	if old, ok := t.what[id]; ok {
		if !old.Failed {
			t.what[id] = o // an abort that comes after the end; the other way round nothing changes
		}
		return
	}
	if len(t.order) == t.cap {
		delete(t.what, t.order[0])
		t.order = append(t.order[:0], t.order[1:]...)
	}
	t.order = append(t.order, id)
	t.what[id] = o
}

// maxReason bounds the text of a failure in logs and frames.
const maxReason = 2000

func encodeOutcome(o role.Outcome) []byte {
	b := wire.AppendArray(nil, 2)
	b = wire.AppendBool(b, o.Failed)
	return wire.AppendString(b, o.Reason[:min(len(o.Reason), maxReason)])
}

func decodeOutcome(p []byte) (role.Outcome, error) {
	r := wire.NewReader(p)
	r.ArrayOf(2)
	o := role.Outcome{Failed: r.Bool(), Reason: r.String()}
	if err := r.Done(); err != nil {
		return role.Outcome{}, fmt.Errorf("outcome of a session: %w", err)
	}
	return o, nil
}

func (t *tombstones) append(b []byte) []byte {
	b = wire.AppendArray(b, len(t.order))
	for _, id := range t.order {
		b = wire.AppendArray(b, 2)
		b = wire.AppendBin(b, id[:])
		b = wire.AppendBin(b, encodeOutcome(t.what[id]))
	}
	return b
}

func (t *tombstones) read(d *wire.Reader) {
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(2)
		var id session.ID
		copy(id[:], d.Bytes())
		o, err := decodeOutcome(d.Bytes())
		if err != nil {
			d.Fail("%v", err)
			return
		}
		t.put(id, o)
	}
}
