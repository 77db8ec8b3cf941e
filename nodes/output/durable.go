package output

import (
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func encodeRemoval(id session.ID, why gateway.Outcome) []byte {
	b := wire.AppendArray(nil, 3)
	return why.Append(wire.AppendBin(b, id[:]))
}

// Apply implements role.Gateway.
func (o *Output) Apply(payload []byte) error {
	d := wire.NewReader(payload)
	if d.Array() == stateFields && d.Err() == nil {
		return o.RestoreAll(payload)
	}
	d = wire.NewReader(payload)
	d.ArrayOf(3)
	id := gateway.ReadID(&d)
	why := gateway.ReadOutcome(&d)
	if err := d.Done(); err != nil {
		return fmt.Errorf("removal of results: %w", err)
	}
	o.removed(id, why)
	return nil
}

// stateFields tells what SnapshotAll makes from a removal, which has three.
const stateFields = 2

// SnapshotAll implements role.Gateway.
func (o *Output) SnapshotAll(b []byte) []byte { return o.appendState(b, role.ByID(o.results)) }

func (o *Output) appendState(b []byte, results []*result) []byte {
	b = wire.AppendArray(b, stateFields)
	b = o.Tombstones.Append(b)
	b = wire.AppendArray(b, len(results))
	for _, r := range results {
		b = r.append(b)
	}
	return b
}

func (r *result) append(b []byte) []byte {
	b = wire.AppendArray(b, 9)
	b = wire.AppendBin(wire.AppendBin(b, r.id[:]), r.opener[:])
	b = wire.AppendString(b, r.analysis)
	b = wire.AppendUint(b, uint64(r.streams))
	b = wire.AppendUint(b, uint64(r.ended))
	b = wire.AppendBool(b, r.over)
	b = r.why.Append(b)
	reply := protocol.Reply{Type: protocol.Parts, State: session.Running}
	b = wire.AppendArray(b, len(r.parts))
	for _, p := range r.parts {
		reply.Parts = []protocol.Part{p}
		b = wire.AppendBin(b, reply.Append(nil))
	}
	return b
}

// Bequeath implements role.Heir. An answer that is complete, or a failure, is right whatever the log has lost: every sender of the output
// has said that it has sent everything, and nothing was missing on the way. What the log had removed and now holds again is kept once more
// until limits.results_ttl.
func (o *Output) Bequeath() []byte {
	var keep []*result
	size := uint64(0)
	for _, r := range role.ByID(o.results) {
		if r.over && size+r.size <= maxBequest {
			keep = append(keep, r)
			size += r.size
		}
	}
	if len(keep) == 0 && len(o.Tombstones.Keys()) == 0 {
		return nil
	}
	return o.appendState(nil, keep)
}

// maxBequest bounds the answers that go over to the next log: they are one record there.
const maxBequest = 256 << 20

// Inherit implements role.Heir.
func (o *Output) Inherit(data []byte) error {
	if err := o.RestoreAll(data); err != nil {
		return fmt.Errorf("answers of the log before: %w", err)
	}
	o.Host.Record(data)
	return nil
}

// RestoreAll implements role.Gateway. It replaces what the opening of sessions has left.
func (o *Output) RestoreAll(data []byte) error {
	clear(o.results)
	d := wire.NewReader(data)
	d.ArrayOf(stateFields)
	o.Tombstones.Read(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(9)
		r := &result{id: gateway.ReadID(&d)}
		d.Fixed(r.opener[:])
		r.analysis, r.streams, r.ended, r.over = d.String(), int(d.Uint()), int(d.Uint()), d.Bool()
		r.why = gateway.ReadOutcome(&d)
		for k := d.Array(); k > 0 && d.Err() == nil; k-- {
			if err := r.add(d.Bytes()); err != nil {
				return fmt.Errorf("stored results of session %s: %w", r.id, err)
			}
		}
		o.results[r.id] = r
	}
	return d.Done()
}
