package output

import (
	"fmt"
	"math"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// The kinds of records that an output writes itself. Each record is an array that starts with its kind.
const (
	recState   = iota + 1 // the whole state, as in a snapshot
	recRemoval            // session, code, reason
	recAges               // for each answer: session, age
	recRefused            // session, the client that began it, code, reason
)

func encodeRemoval(id session.ID, why gateway.Outcome) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 4), recRemoval)
	return why.Append(wire.AppendBin(b, id[:]))
}

func encodeRefused(e role.Ended) []byte {
	return appendRefused(wire.AppendUint(wire.AppendArray(nil, 5), recRefused), e)
}

func appendRefused(b []byte, e role.Ended) []byte {
	b = wire.AppendBin(wire.AppendBin(b, e.ID[:]), e.Opener[:])
	return protocol.AppendReason(wire.AppendString(b, string(e.Code)), e.Reason, e.Fields)
}

func readRefused(d *wire.Reader) role.Ended {
	e := role.Ended{ID: gateway.ReadID(d), Failed: true}
	d.Fixed(e.Opener[:])
	e.Code = protocol.Code(d.String())
	e.Reason, e.Fields = protocol.ReadReason(d)
	return e
}

func encodeAges(results []*result) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 1+2*len(results)), recAges)
	for _, r := range results {
		b = appendAge(wire.AppendBin(b, r.id[:]), r.stored)
	}
	return b
}

func appendAge(b []byte, a gateway.Age) []byte {
	b = wire.AppendString(wire.AppendArray(b, 3), a.Boot)
	return wire.AppendUint(wire.AppendUint(b, uint64(max(0, a.At))), uint64(max(0, a.Age)))
}

func readAge(d *wire.Reader) (a gateway.Age) {
	d.ArrayOf(3)
	a.Boot = d.String()
	a.At, a.Age = duration(d), duration(d)
	return a
}

// duration reads nanoseconds. A number that no clock can show reads as 0, so every age that was read can be stored and read again (M10).
func duration(d *wire.Reader) time.Duration {
	if n := d.Uint(); n < math.MaxInt64/2 {
		return time.Duration(n)
	}
	return 0
}

// Apply implements role.Gateway.
func (o *Output) Apply(payload []byte) error {
	d := wire.NewReader(payload)
	fields := d.Array()
	switch op := d.Uint(); {
	case d.Err() != nil:
	case op == recState:
		return o.RestoreAll(payload)
	case op == recRemoval && fields == 4:
		id := gateway.ReadID(&d)
		if why := gateway.ReadOutcome(&d); d.Err() == nil {
			o.removed(id, why)
		}
	case op == recRefused && fields == 5:
		if e := readRefused(&d); d.Err() == nil {
			o.refused.Put(e.ID, e)
		}
	case op == recAges:
		for ; fields > 2 && d.Err() == nil; fields -= 2 {
			id, age := gateway.ReadID(&d), readAge(&d)
			if r := o.results[id]; r != nil {
				r.stored = age
			}
		}
	default:
		d.Fail("operation %d with %d fields", op, fields)
	}
	if err := d.Done(); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// SnapshotAll implements role.Gateway.
func (o *Output) SnapshotAll(b []byte) []byte { return o.appendState(b, role.ByID(o.results), false) }

// appendState appends the whole state. If content is set, it includes the content of files that are not saved yet.
func (o *Output) appendState(b []byte, results []*result, content bool) []byte {
	b = wire.AppendUint(wire.AppendArray(b, 4), recState)
	b = o.Tombstones.Append(b)
	b = wire.AppendArray(b, len(o.refused.Keys()))
	for _, id := range o.refused.Keys() {
		e, _ := o.refused.Get(id)
		b = appendRefused(wire.AppendArray(b, 4), e)
	}
	b = wire.AppendArray(b, len(results))
	for _, r := range results {
		b = r.append(b, content) // with the age that was recorded last: a snapshot holds what the log holds (N3)
	}
	return b
}

const resultFields = 17

func (r *result) append(b []byte, content bool) []byte {
	b = wire.AppendArray(b, resultFields)
	b = wire.AppendBin(r.Holder.Append(wire.AppendBin(b, r.id[:])), r.digest[:])
	b = wire.AppendString(b, r.analysis)
	b = wire.AppendUint(b, uint64(r.streams))
	b = wire.AppendUint(b, uint64(r.ended))
	b = wire.AppendBool(b, r.over)
	b = appendAge(r.why.Append(b), r.stored)
	return r.rows.append(b, content)
}

// Bequeath implements role.Heir. A complete answer, or a failure, is right whatever the log has lost: every sender has
// told the output that it has sent everything, and no frame was missing. If the log was set back and holds an answer
// again that it had removed, the answer is kept again until limits.results_ttl.
func (o *Output) Bequeath() []byte {
	var keep []*result
	size := uint64(0)
	for _, r := range role.ByID(o.results) {
		if inline := r.inMemory(); r.over && size+inline <= maxBequest {
			keep = append(keep, r)
			size += inline
		}
	}
	if len(keep) == 0 && len(o.Tombstones.Keys()) == 0 {
		return nil
	}
	return o.appendState(nil, keep, true)
}

// maxBequest bounds the answers that the next log inherits, in bytes: there they are a single record.
const maxBequest = 256 << 20

// Inherit implements role.Heir.
func (o *Output) Inherit(data []byte) error {
	if err := o.RestoreAll(data); err != nil {
		return fmt.Errorf("answers of the log before: %w", err)
	}
	o.Host.Record(data)
	return nil
}

// RestoreAll implements role.Gateway. It replaces the results that opening sessions has created.
func (o *Output) RestoreAll(data []byte) error {
	clear(o.results)
	d := wire.NewReader(data)
	d.ArrayOf(4)
	if op := d.Uint(); d.Err() == nil && op != recState {
		return fmt.Errorf("output: operation %d where the state was expected", op)
	}
	o.Tombstones.Read(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(4)
		if e := readRefused(&d); d.Err() == nil {
			o.refused.Put(e.ID, e)
		}
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(resultFields)
		r := &result{id: gateway.ReadID(&d), Holder: gateway.ReadHolder(&d)}
		d.Fixed(r.digest[:])
		r.analysis, r.streams, r.ended, r.over = d.String(), int(d.Uint()), int(d.Uint()), d.Bool()
		r.why, r.stored = gateway.ReadOutcome(&d), readAge(&d)
		r.rows.restore(&d, o.FileBytes)
		o.results[r.id] = r
	}
	return d.Done()
}

// Removes returns the session whose answer goes with a record that an output has written itself, and false if none does.
func Removes(payload []byte) (id session.ID, ok bool) {
	d := wire.NewReader(payload)
	if fields, op := d.Array(), d.Uint(); fields != 4 || op != recRemoval {
		return id, false
	}
	id = gateway.ReadID(&d)
	return id, d.Err() == nil
}
