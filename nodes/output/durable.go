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

// What an output records of its own, each an array that starts with one of these.
const (
	recState   = iota + 1 // all of it, as in a snapshot
	recRemoval            // session, code, reason
	recAges               // for each answer: session, age
	recRefused            // session, who began it, code, reason
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
	return wire.AppendString(wire.AppendString(b, string(e.Code)), e.Reason)
}

func readRefused(d *wire.Reader) role.Ended {
	e := role.Ended{ID: gateway.ReadID(d), Failed: true}
	d.Fixed(e.Opener[:])
	e.Code, e.Reason = protocol.Code(d.String()), d.String()
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

// duration reads nanoseconds. A number that no clock of ours says is none: every number that is stored can be read back (M10).
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
func (o *Output) SnapshotAll(b []byte) []byte { return o.appendState(b, role.ByID(o.results)) }

func (o *Output) appendState(b []byte, results []*result) []byte {
	b = wire.AppendUint(wire.AppendArray(b, 4), recState)
	b = o.Tombstones.Append(b)
	b = wire.AppendArray(b, len(o.refused.Keys()))
	for _, id := range o.refused.Keys() {
		e, _ := o.refused.Get(id)
		b = appendRefused(wire.AppendArray(b, 4), e)
	}
	b = wire.AppendArray(b, len(results))
	for _, r := range results {
		b = r.append(b) // its age as it was recorded last: a snapshot holds what the log holds (N3)
	}
	return b
}

func (r *result) append(b []byte) []byte {
	b = wire.AppendArray(b, 12)
	b = wire.AppendBin(r.Holder.Append(wire.AppendBin(b, r.id[:])), r.digest[:])
	b = wire.AppendString(b, r.analysis)
	b = wire.AppendUint(b, uint64(r.streams))
	b = wire.AppendUint(b, uint64(r.ended))
	b = wire.AppendBool(b, r.over)
	b = appendAge(r.why.Append(b), r.stored)
	reply := protocol.Reply{Type: protocol.Parts, State: session.Running}
	b = wire.AppendArray(b, len(r.parts))
	for _, p := range r.parts {
		reply.Parts = []protocol.Part{p}
		b = wire.AppendBin(b, reply.Append(nil))
	}
	return b
}

// Bequeath implements role.Heir. An answer that is complete, or a failure, is right whatever the log has lost: every sender of the output
// has said that it has sent everything, and nothing was missing on the way. What the log had removed and now holds again is kept once more,
// for as long as limits.results_ttl leaves it.
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
		d.ArrayOf(12)
		r := &result{id: gateway.ReadID(&d), Holder: gateway.ReadHolder(&d)}
		d.Fixed(r.digest[:])
		r.analysis, r.streams, r.ended, r.over = d.String(), int(d.Uint()), int(d.Uint()), d.Bool()
		r.why, r.stored = gateway.ReadOutcome(&d), readAge(&d)
		for k := d.Array(); k > 0 && d.Err() == nil; k-- {
			if err := r.add(d.Bytes()); err != nil {
				return fmt.Errorf("stored results of session %s: %w", r.id, err)
			}
		}
		o.results[r.id] = r
	}
	return d.Done()
}
