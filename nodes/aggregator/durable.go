package aggregator

import (
	"errors"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
)

// Snapshot implements role.Role. It first finishes pruning: pruning a half-pruned table again may drop other rows. If pruning fails, the
// next call of Work or More returns the error. A part from files does not need this, because recovery reads it again.
//
// After a restart, a table that is being made is made again, and the rows of it that have left are skipped: its rows and their order depend
// only on the tables from which it is made.
//
//	[[unmerged, merged rows, …], stream, next, [leaving…], prunes, tables, runs, parts, [ended…], [making…], left, waiting…]
//	parts = [] or [prunes, from, left]
func (a *Aggregator) Snapshot(id session.ID, dst []byte) []byte {
	st := a.sessions[id]
	var leaving []int
	prunes := false
	if st.parts == nil {
		_ = a.finish(id)
		leaving, prunes = st.leaving, st.prunes
	}
	dst = wire.AppendArray(dst, snapshotFields)
	dst = wire.AppendArray(dst, 2*len(st.repeats))
	for i, r := range st.repeats {
		merged := 0
		if st.grows(i) {
			merged = max(0, r.before+st.tables[i].Merged()-st.tables[i].Len())
		}
		dst = wire.AppendUint(wire.AppendBool(dst, r.unmerged), uint64(merged))
	}
	dst = wire.AppendUint(dst, uint64(st.stream))
	dst = wire.AppendUint(dst, uint64(st.next))
	dst = wire.AppendArray(dst, len(leaving))
	for _, i := range leaving {
		dst = wire.AppendUint(dst, uint64(i))
	}
	dst = wire.AppendBool(dst, prunes)
	dst = role.AppendTables(dst, st.tables)
	dst = a.Of(id).Append(dst)
	if st.parts == nil {
		dst = wire.AppendArray(dst, 0)
	} else {
		dst = wire.AppendBool(wire.AppendArray(dst, 3), st.parts.prunes)
		dst = wire.AppendUint(wire.AppendUint(dst, uint64(st.parts.from)), uint64(st.parts.left))
	}
	dst = wire.AppendBools(dst, st.ended)
	dst = wire.AppendArray(dst, len(st.making))
	for _, i := range st.making {
		dst = wire.AppendUint(dst, uint64(i))
	}
	dst = wire.AppendUint(dst, uint64(st.left))
	for _, w := range st.waiting {
		if w != nil {
			dst = w.Append(dst)
		}
	}
	return dst
}

// Fields of a snapshot, without the rows that wait.
const (
	snapshotFields = 11
	withoutRepeats = 10 // snapshots of programs that merged all rows in memory
	withoutMaking  = 7  // snapshots of programs that made no tables
	withoutRuns    = 5  // snapshots of programs that kept all tables in memory
)

// Restore implements role.Role.
func (a *Aggregator) Restore(id session.ID, data []byte) error {
	st := a.sessions[id]
	if st == nil {
		return errors.New("the session is not open")
	}
	d := wire.NewReader(data)
	fields := d.Array()
	if fields != snapshotFields && fields != withoutRepeats && fields != withoutMaking && fields != withoutRuns {
		d.Fail("%d fields", fields)
	}
	if fields == snapshotFields {
		st.readRepeats(&d)
	}
	st.stream, st.next = int(d.Uint()), int(d.Uint())
	for n := d.Array(); n > 0; n-- {
		i := int(d.Uint())
		if i >= len(st.tables) {
			return fmt.Errorf("table %d of %d", i, len(st.tables))
		}
		st.leaving = append(st.leaving, i)
	}
	st.prunes = d.Bool()
	if err := role.ReadTables(&d, st.tables); err != nil {
		return err
	}
	if fields >= withoutMaking {
		a.Store.Restore(id, &d)
		if d.Array() == 3 {
			st.parts = &parts{prunes: d.Bool(), from: int(d.Uint()), left: int(d.Uint())}
		}
	}
	if fields >= withoutRepeats {
		if err := st.readMaking(&d); err != nil {
			return err
		}
	}
	return d.Done()
}

func (st *state) readRepeats(d *wire.Reader) {
	d.ArrayOf(2 * len(st.repeats))
	for i := range st.repeats {
		r := &st.repeats[i]
		r.unmerged, r.before = d.Bool(), int(min(d.Uint(), fold.MaxRows))
		st.tables[i] = r.newTable(st.tables[i].Spec())
	}
}

func (st *state) readMaking(d *wire.Reader) error {
	d.Bools(st.ended)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		i := int(min(d.Uint(), uint64(len(st.Analysis.Tables))))
		if i == len(st.Analysis.Tables) || len(st.Analysis.MadeOf(i)) == 0 {
			return fmt.Errorf("table %d is made of no others", i)
		}
		st.making = append(st.making, i)
	}
	st.left = int(d.Uint())
	for _, w := range st.waiting {
		if w == nil {
			continue
		}
		if err := w.Read(d); err != nil {
			return err
		}
	}
	return d.Err()
}
