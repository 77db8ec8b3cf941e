package output

import (
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func encodeRemoval(id session.ID, why gateway.Why) []byte {
	b := wire.AppendArray(nil, 3)
	b = gateway.AppendID(b, id)
	b = wire.AppendString(b, string(why.Code))
	return wire.AppendString(b, why.Reason)
}

// Apply implements role.Gateway.
func (o *Output) Apply(payload []byte) error {
	d := wire.NewReader(payload)
	d.ArrayOf(3)
	id := gateway.ReadID(&d)
	why := gateway.Why{Code: protocol.Code(d.String()), Reason: d.String()}
	if err := d.Done(); err != nil {
		return fmt.Errorf("removal of results: %w", err)
	}
	delete(o.results, id)
	o.gone.Put(id, why)
	return nil
}

// SnapshotAll implements role.Gateway.
func (o *Output) SnapshotAll(b []byte) []byte {
	b = wire.AppendArray(b, 2)
	b = o.gone.Append(b)
	b = wire.AppendArray(b, len(o.results))
	for _, r := range o.inOrder() {
		b = wire.AppendArray(b, 8)
		b = gateway.AppendID(b, r.id)
		b = wire.AppendString(b, r.analysis)
		b = wire.AppendUint(b, uint64(r.streams))
		b = wire.AppendUint(b, uint64(r.ended))
		b = wire.AppendBool(b, r.over)
		b = wire.AppendString(b, string(r.why.Code))
		b = wire.AppendString(b, r.why.Reason)
		reply := protocol.Reply{Type: protocol.Parts, State: session.Running}
		b = wire.AppendArray(b, len(r.parts))
		for _, p := range r.parts {
			reply.Parts = []protocol.Part{p}
			b = wire.AppendBin(b, reply.Append(nil))
		}
	}
	return b
}

// RestoreAll implements role.Gateway. It replaces what the opening of sessions has left.
func (o *Output) RestoreAll(data []byte) error {
	clear(o.results)
	d := wire.NewReader(data)
	d.ArrayOf(2)
	o.gone.Read(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(8)
		r := &result{
			id: gateway.ReadID(&d), analysis: d.String(), streams: int(d.Uint()), ended: int(d.Uint()), over: d.Bool(),
			why: gateway.Why{Code: protocol.Code(d.String()), Reason: d.String()},
		}
		for k := d.Array(); k > 0 && d.Err() == nil; k-- {
			reply, err := protocol.DecodeReply(d.Bytes())
			if err != nil {
				return fmt.Errorf("stored results of session %s: %w", r.id, err)
			}
			for _, p := range reply.Parts {
				r.parts = append(r.parts, p)
				r.size += uint64(p.Rows.Size())
			}
		}
		o.results[r.id] = r
	}
	return d.Done()
}
