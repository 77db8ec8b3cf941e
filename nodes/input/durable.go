package input

import (
	"fmt"
	"maps"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// What an input records of its own, each an array that starts with one of these.
const (
	recOpen     = iota + 1 // session, announcement
	recLane                // session, lane, seq, checksum, bytes of CSV
	recEnd                 // session, stream
	recOver                // session, code, reason
	recLog                 // node, log id; zero: the node is gone
	recTakeOver            // session, announcement
)

func encodeOpen(id session.ID, announcement []byte) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 3), recOpen)
	return wire.AppendBin(wire.AppendBin(b, id[:]), announcement)
}

func encodeTakeOver(id session.ID, announcement []byte) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 3), recTakeOver)
	return wire.AppendBin(wire.AppendBin(b, id[:]), announcement)
}

func encodeLane(id session.ID, lane uint32, last taken, size int) []byte {
	b := wire.AppendUint(wire.AppendArray(make([]byte, 0, 48), 6), recLane)
	b = wire.AppendUint(wire.AppendBin(b, id[:]), uint64(lane))
	return wire.AppendUint(wire.AppendUint(wire.AppendUint(b, last.seq), uint64(last.sum)), uint64(size))
}

func encodeEnd(id session.ID, stream int) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 3), recEnd)
	return wire.AppendUint(wire.AppendBin(b, id[:]), uint64(stream))
}

func encodeOver(id session.ID, why gateway.Outcome) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 4), recOver)
	return why.Append(wire.AppendBin(b, id[:]))
}

func encodeLog(node link.NodeID, l link.LogID) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 3), recLog)
	return wire.AppendBin(wire.AppendString(b, string(node)), l[:])
}

// Apply implements role.Gateway.
func (in *Input) Apply(payload []byte) error {
	d := wire.NewReader(payload)
	fields := d.Array()
	op := d.Uint()
	if d.Err() == nil && op == recLog {
		return in.applyLog(&d)
	}
	id := gateway.ReadID(&d)
	u := in.uploads[id]
	switch {
	case d.Err() != nil:
	case op == recOpen && fields == 3:
		return in.applyOpen(id, &d)
	case op == recTakeOver && fields == 3:
		return in.applyTakeOver(id, &d)
	case op == recOver && fields == 4:
		in.over(id, gateway.ReadOutcome(&d), "")
	case u == nil:
		// It failed in the same commit.
		return nil
	case op == recLane && fields == 6:
		u.lanes[uint32(d.Uint())] = taken{seq: d.Uint(), sum: uint32(d.Uint())}
		u.bytes += d.Uint()
		u.chunks++
	case op == recEnd && fields == 3:
		if s := d.Uint(); s < uint64(len(u.ended)) {
			u.ended[s] = true
		}
	default:
		d.Fail("operation %d with %d fields", op, fields)
	}
	if err := d.Done(); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}

func (in *Input) applyLog(d *wire.Reader) error {
	node := link.NodeID(d.String())
	var l link.LogID
	d.Fixed(l[:])
	if err := d.Done(); err != nil {
		return fmt.Errorf("input: log of a node: %w", err)
	}
	in.noteLog(node, l)
	return nil
}

func (in *Input) applyOpen(id session.ID, d *wire.Reader) error {
	payload := slices.Clone(d.Bytes())
	if err := d.Done(); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	u, err := in.newUpload(id, payload)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	in.Tombstones.Delete(id)
	in.uploads[id] = u
	return nil
}

// SnapshotAll implements role.Gateway.
func (in *Input) SnapshotAll(b []byte) []byte {
	b = wire.AppendArray(b, 3)
	b = in.Tombstones.Append(b)
	n := 0
	for _, logs := range in.logs {
		n += len(logs)
	}
	b = wire.AppendArray(b, n)
	for _, n := range slices.Sorted(maps.Keys(in.logs)) {
		for _, l := range in.logs[n] { // the present one last: it is all that a program from before this was done reads
			b = wire.AppendBin(wire.AppendString(wire.AppendArray(b, 2), string(n)), l[:])
		}
	}
	b = wire.AppendArray(b, len(in.uploads))
	for _, u := range role.ByID(in.uploads) {
		b = u.append(b)
	}
	return b
}

func (u *upload) append(b []byte) []byte {
	b = wire.AppendArray(b, 6)
	b = wire.AppendBin(b, u.ID[:])
	b = wire.AppendBin(b, u.payload)
	b = wire.AppendBools(b, u.ended)
	b = wire.AppendUint(wire.AppendUint(b, u.bytes), u.chunks)
	b = wire.AppendMap(b, len(u.lanes))
	for _, lane := range slices.Sorted(maps.Keys(u.lanes)) {
		b = wire.AppendArray(wire.AppendUint(b, uint64(lane)), 2)
		b = wire.AppendUint(wire.AppendUint(b, u.lanes[lane].seq), uint64(u.lanes[lane].sum))
	}
	return b
}

// RestoreAll implements role.Gateway.
func (in *Input) RestoreAll(data []byte) error {
	d := wire.NewReader(data)
	d.ArrayOf(3)
	in.Tombstones.Read(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(2)
		node := link.NodeID(d.String())
		var l link.LogID
		d.Fixed(l[:])
		in.noteLog(node, l)
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		if err := in.restoreUpload(&d); err != nil {
			return err
		}
	}
	return d.Done()
}

func (in *Input) restoreUpload(d *wire.Reader) error {
	d.ArrayOf(6)
	id, payload := gateway.ReadID(d), d.Bytes()
	if d.Err() != nil {
		return d.Err()
	}
	u, err := in.newUpload(id, payload)
	if err != nil {
		return err
	}
	d.Bools(u.ended)
	u.bytes, u.chunks = d.Uint(), d.Uint()
	for n := d.Map(); n > 0; n-- {
		lane := uint32(d.Uint())
		d.ArrayOf(2)
		u.lanes[lane] = taken{seq: d.Uint(), sum: uint32(d.Uint())}
	}
	in.uploads[id] = u
	return d.Err()
}
