package core

import (
	"fmt"

	"posta.dev/posta/internal/bounded"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// tombstone is what a node remembers of a session that has left it. Frames that still come for that session are ignored, and another
// session of its id is refused.
type tombstone struct {
	role.Outcome
	Openers session.Openers // none: the node has only heard that the session failed
}

// claim reports whether the node knows nothing of a session but that a client says it has lost it. A claim counts only for sessions that
// this client owns. Otherwise anybody who knows an id could fail the session that has it (S5).
func (t *tombstone) claim() bool { return len(t.Openers) == 0 && t.Owner != "" }

// same reports whether a tombstone belongs to a session.
func (t *tombstone) same(s *role.Session) bool {
	if len(t.Openers) == 0 {
		return t.Owner == "" || t.Owner == s.Owner
	}
	return t.Openers.Founder() == s.Openers.Founder()
}

// tombstones remember sessions that have left. The oldest are dropped first. By then no frame of their sessions is under way, because every
// link is first in, first out and bounded by its window.
type tombstones struct {
	bounded.Map[session.ID, tombstone]
}

func newTombstones() tombstones {
	return tombstones{bounded.NewMap[session.ID, tombstone](role.Remembered)}
}

// put remembers that a session left. An abort that comes after the session's end replaces the end. A failure is never replaced.
func (t *tombstones) put(id session.ID, o tombstone) {
	old, _ := t.Get(id)
	if old.claim() && old.Owner != o.Owner { // it is another session
		t.Delete(id)
		old = tombstone{}
	}
	if len(o.Openers) < len(old.Openers) {
		o.Openers, o.Owner = old.Openers, old.Owner
	}
	if old.Failed {
		o.Outcome = old.Outcome
	}
	t.Put(id, o)
}

// maxReason bounds the text of a failure in logs and frames.
const maxReason = 2000

// append appends a tombstone: as part of a snapshot, and alone as the payload of a drop's record and of an Abort frame.
func (t *tombstone) append(b []byte) []byte {
	b = wire.AppendArray(b, 5)
	b = wire.AppendBool(b, t.Failed)
	b = wire.AppendString(b, string(t.Code))
	b = protocol.AppendReason(b, t.Reason[:min(len(t.Reason), maxReason)], t.Fields)
	return wire.AppendString(wire.AppendBin(b, t.Openers.Append(nil)), t.Owner)
}

func (t *tombstone) read(d *wire.Reader) {
	d.ArrayOf(5)
	t.Outcome = role.Outcome{Failed: d.Bool(), Code: protocol.Code(d.String())}
	t.Reason, t.Fields = protocol.ReadReason(d)
	var ok bool
	if t.Openers, ok = session.ReadOpeners(d.Bytes()); !ok {
		d.Fail("openers that are none")
	}
	t.Owner = d.String()
}

func decodeTombstone(p []byte) (t tombstone, err error) {
	d := wire.NewReader(p)
	t.read(&d)
	if err := d.Done(); err != nil {
		return tombstone{}, fmt.Errorf("outcome of a session: %w", err)
	}
	return t, nil
}

func (t *tombstones) append(b []byte) []byte {
	b = wire.AppendArray(b, len(t.Keys()))
	for _, id := range t.Keys() {
		o, _ := t.Get(id)
		b = o.append(wire.AppendBin(wire.AppendArray(b, 2), id[:]))
	}
	return b
}

func (t *tombstones) read(d *wire.Reader) {
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(2)
		var id session.ID
		d.Fixed(id[:])
		var o tombstone
		o.read(d)
		t.put(id, o)
	}
}
