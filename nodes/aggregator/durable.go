package aggregator

import (
	"errors"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Snapshot implements role.Role. It first finishes pruning: pruning a half-pruned table again may drop other rows. If
// pruning fails, the next call of Work or More returns the error. A part that is in files needs no such care, because recovery reads it again.
//
//	[stream, next, [leaving…], prunes, tables, runs, parts]      parts = [] or [prunes, from, left]
func (a *Aggregator) Snapshot(id session.ID, dst []byte) []byte {
	st := a.sessions[id]
	var leaving []int
	prunes := false
	if st.parts == nil {
		_ = a.finish(id)
		leaving, prunes = st.leaving, st.prunes
	}
	dst = wire.AppendArray(dst, snapshotFields)
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
		return wire.AppendArray(dst, 0)
	}
	dst = wire.AppendBool(wire.AppendArray(dst, 3), st.parts.prunes)
	return wire.AppendUint(wire.AppendUint(dst, uint64(st.parts.from)), uint64(st.parts.left))
}

const (
	snapshotFields = 7
	withoutRuns    = 5 // of programs that kept all tables in memory
)

// Restore implements role.Role.
func (a *Aggregator) Restore(id session.ID, data []byte) error {
	st := a.sessions[id]
	if st == nil {
		return errors.New("the session is not open")
	}
	d := wire.NewReader(data)
	fields := d.Array()
	if fields != snapshotFields && fields != withoutRuns {
		d.Fail("%d fields", fields)
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
	if fields == snapshotFields {
		a.Store.Restore(id, &d)
		if d.Array() == 3 {
			st.parts = &parts{prunes: d.Bool(), from: int(d.Uint()), left: int(d.Uint())}
		}
	}
	return d.Done()
}
