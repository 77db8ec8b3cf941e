package gateway

import (
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// AppendID appends a session's id.
func AppendID(b []byte, id session.ID) []byte { return wire.AppendBin(b, id[:]) }

// ReadID reads it.
func ReadID(d *wire.Reader) (id session.ID) {
	if p := d.Bytes(); len(p) == len(id) {
		copy(id[:], p)
	} else {
		d.Fail("%d bytes where a session id has %d", len(p), len(id))
	}
	return id
}

// Append appends everything that is remembered.
func (g *Gone) Append(b []byte) []byte {
	b = wire.AppendArray(b, len(g.order))
	for _, id := range g.order {
		b = wire.AppendArray(b, 3)
		b = AppendID(b, id)
		b = wire.AppendString(b, string(g.why[id].Code))
		b = wire.AppendString(b, g.why[id].Reason)
	}
	return b
}

// Read reads it back.
func (g *Gone) Read(d *wire.Reader) {
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(3)
		id := ReadID(d)
		w := Why{Code: protocol.Code(d.String()), Reason: d.String()}
		g.Put(id, w)
	}
}
