package reducer

import (
	"bytes"
	"fmt"
	"math"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/internal/runs"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
)

// Tables that Reduce reads from files, too (analyses.Planned.Moves), move there when they take much memory. Once a table has files and is
// complete, all of it is there.

// moves reports whether a table can move now. A complete one cannot: it may be read already.
func (st *state) moves(i int) bool {
	return i < len(st.Analysis.Tables) && st.Analysis.Moves != nil && st.Analysis.Moves(i) && st.tables[i].Len() > 0 &&
		!role.Complete(st.Analysis, i, st.ended)
}

// movesFrom is from which part of limits.memory on tables move, over all sessions.
const movesFrom = 4

// Excess implements role.Spiller. It returns the session whose tables that can move take most. They move at a quarter of limits.memory, but
// not below limits.tables, because a Reduce reads each of them once more.
func (r *Reducer) Excess(limit int) (id session.ID, found bool) {
	total, most := 0, math.MaxInt
	for _, st := range r.sessions {
		total += st.measured
		if st.Replica.Memory > 0 {
			most = max(limit, st.Replica.Memory/movesFrom)
		}
	}
	if total <= most {
		return id, false
	}
	largest := 0
	for _, st := range role.ByID(r.sessions) {
		n := 0
		for i, t := range st.tables {
			if st.moves(i) {
				n += t.Bytes()
			}
		}
		if n > largest && st.failed == nil {
			id, found, largest = st.ID, true, n
		}
	}
	return id, found
}

// Spill implements role.Spiller.
func (r *Reducer) Spill(id session.ID, recorded []byte) ([]byte, error) {
	st := r.sessions[id]
	record, err := r.spill(st, st.moves)
	if err == nil && recorded != nil && !bytes.Equal(recorded, record) {
		st.failed = fmt.Errorf("repeating what was stored makes other files than before (%d bytes of names, %d recorded): start the session "+
			"again", len(record), len(recorded))
	}
	return record, err
}

// spill moves tables to files, and returns the names of the files.
func (r *Reducer) spill(st *state, which func(table int) bool) (record []byte, err error) {
	var names []string
	for i, t := range st.tables {
		if !which(i) {
			continue
		}
		if err := t.Err(); err != nil {
			return nil, err
		}
		name, err := r.Store.Open(st.ID).Add(i, runs.OfTable(t, 0))
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Spec().Name, err)
		}
		names = append(names, name)
		st.tables[i] = fold.NewUnion(t.Spec())
	}
	record = wire.AppendArray(nil, len(names))
	for _, n := range names {
		record = wire.AppendString(record, n)
	}
	return record, st.fits(math.MaxInt)
}

// rest moves the rest of tables that are complete and have files.
func (r *Reducer) rest(st *state) error {
	_, err := r.spill(st, func(i int) bool {
		return st.tables[i].Len() > 0 && r.Of(st.ID).Len(i) > 0 && role.Complete(st.Analysis, i, st.ended)
	})
	return err
}
