package core

import (
	"fmt"

	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// tombstones remember sessions that have left, so that the node ignores what still comes for them. The oldest are dropped first. By then
// nothing of their sessions is under way, because every link is first in, first out and bounded by its window.
type tombstones struct {
	bounded.Map[session.ID, role.Outcome]
}

func newTombstones() tombstones {
	return tombstones{bounded.NewMap[session.ID, role.Outcome](role.Remembered)}
}

// put remembers that a session left. An abort that comes after the session's end takes the place of the end; a failure stays.
func (t *tombstones) put(id session.ID, o role.Outcome) {
	if old, _ := t.Get(id); !old.Failed {
		t.Put(id, o)
	}
}

// maxReason bounds the text of a failure in logs and frames.
const maxReason = 2000

func encodeOutcome(o role.Outcome) []byte {
	b := wire.AppendArray(nil, 3)
	b = wire.AppendBool(b, o.Failed)
	b = wire.AppendString(b, string(o.Code))
	return wire.AppendString(b, o.Reason[:min(len(o.Reason), maxReason)])
}

func decodeOutcome(p []byte) (role.Outcome, error) {
	r := wire.NewReader(p)
	r.ArrayOf(3)
	o := role.Outcome{Failed: r.Bool(), Code: protocol.Code(r.String()), Reason: r.String()}
	if err := r.Done(); err != nil {
		return role.Outcome{}, fmt.Errorf("outcome of a session: %w", err)
	}
	return o, nil
}

func (t *tombstones) append(b []byte) []byte {
	b = wire.AppendArray(b, len(t.Keys()))
	for _, id := range t.Keys() {
		o, _ := t.Get(id)
		b = wire.AppendArray(b, 2)
		b = wire.AppendBin(b, id[:])
		b = wire.AppendBin(b, encodeOutcome(o))
	}
	return b
}

func (t *tombstones) read(d *wire.Reader) {
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(2)
		var id session.ID
		d.Fixed(id[:])
		o, err := decodeOutcome(d.Bytes())
		if err != nil {
			d.Fail("%v", err)
			return
		}
		t.put(id, o)
	}
}
