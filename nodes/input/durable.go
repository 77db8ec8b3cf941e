package input

import (
	"fmt"
	"maps"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/input/coverage"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// The kinds of records that an input makes. Each record is an array that starts with its kind, and continues with the fields named here.
const (
	recOpen     = iota + 1 // session, announcement
	recLane                // session, lane, seq, checksum, bytes of CSV, place (empty if the client did not send it)
	recEnd                 // session, stream
	recOver                // session, code, reason
	recLog                 // node, log id; zero: the node is gone
	recTakeOver            // session, announcement
	recRead                // session, lane, seq, checksum, stream, file, header, path, size, time, inode, first, from, line
	recRange               // session, lane, to, line, checksum: a read's file was fed up to here
	recDeclined            // session, lane, seq, checksum, reason
)

func encodeOpen(id session.ID, announcement []byte) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 3), recOpen)
	return wire.AppendBin(wire.AppendBin(b, id[:]), announcement)
}

func encodeTakeOver(id session.ID, announcement []byte) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 3), recTakeOver)
	return wire.AppendBin(wire.AppendBin(b, id[:]), announcement)
}

func encodeLane(id session.ID, lane uint32, last taken, size int, from *coverage.Chunk) []byte {
	b := wire.AppendUint(wire.AppendArray(make([]byte, 0, 96), 7), recLane)
	b = wire.AppendUint(wire.AppendBin(b, id[:]), uint64(lane))
	b = wire.AppendUint(wire.AppendUint(wire.AppendUint(b, last.seq), uint64(last.sum)), uint64(size))
	return appendPlace(b, from)
}

func encodeRead(id session.ID, lane uint32, rd *reading) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 4), recRead)
	return rd.append(wire.AppendUint(wire.AppendBin(b, id[:]), uint64(lane)))
}

// append appends a read, as a part of a record or a snapshot.
func (rd *reading) append(b []byte) []byte {
	b = wire.AppendUint(wire.AppendUint(wire.AppendUint(wire.AppendArray(b, 12), rd.seq), uint64(rd.sum)), uint64(rd.stream))
	b = wire.AppendString(wire.AppendBin(wire.AppendString(b, rd.file), rd.header), rd.path)
	b = wire.AppendUint(wire.AppendInt(wire.AppendUint(b, rd.stamp.Size), rd.stamp.Modified), rd.stamp.Inode)
	return wire.AppendUint(wire.AppendUint(wire.AppendUint(b, rd.first), uint64(rd.at)), rd.line)
}

// restoreRead restores a read that has begun; a part of its file may have been fed.
func (in *Input) restoreRead(u *upload, lane uint32, d *wire.Reader) {
	d.ArrayOf(12)
	in.nextRead++
	rd := &reading{id: in.nextRead, begun: true, seq: d.Uint(), sum: uint32(d.Uint())}
	stream := d.Uint()
	rd.file, rd.header, rd.path = d.String(), slices.Clone(d.Bytes()), d.String()
	rd.stamp = protocol.Stamp{Size: d.Uint(), Modified: d.Int(), Inode: d.Uint()}
	rd.first, rd.at, rd.line = d.Uint(), int64(d.Uint()), d.Uint()
	rd.setEnd()
	switch {
	case d.Err() != nil:
	case stream >= uint64(len(u.ended)), lane >= protocol.MaxLanes, rd.at < 0, rd.at > rd.to, rd.first > uint64(rd.at):
		d.Fail("a read of stream %d on lane %d, at byte %d of %d", stream, lane, rd.at, rd.stamp.Size)
	default:
		rd.stream = int(stream)
		u.reads[lane] = rd
	}
}

func encodeRange(id session.ID, lane uint32, to int64, line uint64, sum uint32) []byte {
	b := wire.AppendUint(wire.AppendArray(make([]byte, 0, 48), 6), recRange)
	b = wire.AppendUint(wire.AppendBin(b, id[:]), uint64(lane))
	return wire.AppendUint(wire.AppendUint(wire.AppendUint(b, uint64(to)), line), uint64(sum))
}

func encodeDeclined(id session.ID, lane uint32, last taken) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 6), recDeclined)
	b = wire.AppendUint(wire.AppendBin(b, id[:]), uint64(lane))
	return wire.AppendString(wire.AppendUint(wire.AppendUint(b, last.seq), uint64(last.sum)), last.declined)
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
		// The session failed in the same commit.
		return nil
	case op == recLane && fields == 7:
		u.lanes[uint32(d.Uint())] = taken{seq: d.Uint(), sum: uint32(d.Uint())}
		size := d.Uint()
		u.bytes += size
		u.chunks++
		in.applyPlace(u, &d, size)
	case op == recRead && fields == 4:
		in.restoreRead(u, uint32(d.Uint()), &d)
	case op == recRange && fields == 6:
		in.applyRange(u, &d)
	case op == recDeclined && fields == 6:
		u.lanes[uint32(d.Uint())] = taken{seq: d.Uint(), sum: uint32(d.Uint()), declined: d.String()}
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

// applyRange repeats in recovery that a piece of a file was fed.
func (in *Input) applyRange(u *upload, d *wire.Reader) {
	lane, to, line, sum := uint32(d.Uint()), int64(d.Uint()), d.Uint(), uint32(d.Uint())
	rd := u.reads[lane]
	switch {
	case d.Err() != nil:
	case rd == nil || to < rd.at || to > rd.to:
		d.Fail("byte %d of a file that is not read on lane %d, or not so", to, lane)
	default:
		if err := u.cover(rd.place(to, sum), in.coveredBytes()); err != nil {
			d.Fail("%v", err)
			return
		}
		u.advance(lane, to, line)
	}
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
		for _, l := range in.logs[n] { // the present one last: older programs read only that one
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
	b = wire.AppendArray(b, 8)
	b = wire.AppendBin(b, u.ID[:])
	b = wire.AppendBin(b, u.payload)
	b = wire.AppendBools(b, u.ended)
	b = wire.AppendUint(wire.AppendUint(b, u.bytes), u.chunks)
	b = wire.AppendMap(b, len(u.lanes))
	for _, lane := range slices.Sorted(maps.Keys(u.lanes)) {
		last := u.lanes[lane]
		b = wire.AppendArray(wire.AppendUint(b, uint64(lane)), 3)
		b = wire.AppendString(wire.AppendUint(wire.AppendUint(b, last.seq), uint64(last.sum)), last.declined)
	}
	return u.appendReads(u.covered.Append(b))
}

func (u *upload) appendReads(b []byte) []byte {
	begun := 0
	for _, rd := range u.reads {
		if rd.begun {
			begun++
		}
	}
	b = wire.AppendMap(b, begun)
	for _, lane := range slices.Sorted(maps.Keys(u.reads)) {
		if rd := u.reads[lane]; rd.begun { // of the others nothing is durable: their clients ask again
			b = rd.append(wire.AppendUint(b, uint64(lane)))
		}
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
	d.ArrayOf(8)
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
		d.ArrayOf(3)
		u.lanes[lane] = taken{seq: d.Uint(), sum: uint32(d.Uint()), declined: d.String()}
	}
	u.covered.Read(d, len(u.ended))
	for n := d.Map(); n > 0 && d.Err() == nil; n-- {
		in.restoreRead(u, uint32(d.Uint()), d)
	}
	in.uploads[id] = u
	return d.Err()
}
