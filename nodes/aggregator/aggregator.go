// Package aggregator is the role that holds one partition of the key space of each session's tables, and hands each table
// on when the stream that fills it has ended.
//
// The tables' specs say how cells are merged, so this role knows nothing of any analysis. What it is handed is recorded:
// it has been folded already, and is small. A table leaves page by page, as the windows of the receivers have room (R9). Rows of
// bags (fold.Never) wait for nothing: they are handed on as they come.
package aggregator

import (
	"bytes"
	"errors"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/topology"
)

// Aggregator implements role.Role.
type Aggregator struct {
	role.Base

	// PageRows is how many rows More emits at most, 16,384 unless it is set before the first call. It must be the same in all lives of a data
	// directory, because recovery repeats calls of More.
	PageRows int

	sessions map[session.ID]*state
	partials role.PartialEncoder
}

var _ role.Role = (*Aggregator)(nil)

type state struct {
	role.Session
	tables  []*fold.Table
	leaving []int // tables that are on their way out, in order
	next    int   // first row of the first of them that has not left
	stream  int   // the stream that ended
}

// New returns the role.
func New() *Aggregator {
	return &Aggregator{Base: role.Base{Role: topology.Aggregator}, PageRows: pageRows, sessions: map[session.ID]*state{}}
}

// Open implements role.Role.
func (a *Aggregator) Open(s role.Session) error {
	a.sessions[s.ID] = &state{Session: s, tables: role.NewTables(s.Analysis, fold.NewTable)}
	return nil
}

// Take implements role.Role. What is handed on has changed nothing here, so it is recorded once, as the frame that it becomes.
func (a *Aggregator) Take(id session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	tables := a.sessions[id].tables
	bag, err := role.IsBag(tables, m.Payload)
	switch {
	case err != nil:
		return false, err
	case bag:
		out.Emit(0, role.Message{Stream: m.Stream, Payload: bytes.Clone(m.Payload)})
		return false, nil
	}
	err = role.Merge(tables, m.Payload)
	return err == nil, err
}

// End implements role.Role: the tables that the stream completes begin to leave.
func (a *Aggregator) End(id session.ID, stream int, _ role.Emitter) (bool, error) {
	st := a.sessions[id]
	st.stream = stream
	if err := st.prune(stream); err != nil {
		return false, err
	}
	for i, t := range st.tables {
		if role.TableStream(st.Analysis, i) == stream && t.Len() > 0 {
			st.leaving = append(st.leaving, i)
		}
	}
	return len(st.leaving) > 0, nil
}

// prune lets the analysis drop what no answer needs. It happens at a place in the order of events that is recorded, on tables
// that are recorded: a replay drops the same.
func (st *state) prune(stream int) (err error) {
	if st.Analysis.Prune == nil {
		return nil
	}
	defer role.Explain(&err, func() string { return "prune at the end of stream " + st.Analysis.Streams[stream].Name })
	tables := st.tables[:len(st.Analysis.Tables)]
	before := make([]int, len(tables))
	for i, t := range tables {
		if err := t.Err(); err != nil {
			return err
		}
		before[i] = t.Len()
	}
	if err := st.Analysis.Prune(st.Args, stream, tables); err != nil {
		return err
	}
	for i, t := range tables {
		if t.Len() != before[i] && role.TableStream(st.Analysis, i) != stream {
			return fmt.Errorf("it changed table %s, which is not complete before the end of stream %s: %d rows, before %d", t.Spec().Name,
				t.Spec().Stream, t.Len(), before[i])
		}
	}
	return nil
}

// pageRows and pageBytes are how much More emits at most in the product (R15, R16). They are the same for every topology, which makes a repeated call do
// the same.
const (
	pageRows  = 16384
	pageBytes = 4 << 20
)

// More implements role.Role: one page. The edge that leaves an aggregator keeps a session together (key "session").
func (a *Aggregator) More(id session.ID, out role.Emitter) (bool, error) {
	st := a.sessions[id]
	if len(st.leaving) == 0 {
		return false, nil
	}
	i := st.leaving[0]
	t := st.tables[i]
	rows := make([]int, t.Page(st.next, a.PageRows, pageBytes)-st.next)
	for k := range rows {
		rows[k] = st.next + k
	}
	if err := a.partials.Emit(out, 0, st.stream, i, t, rows); err != nil {
		return false, err
	}
	st.next += len(rows)
	if st.next == t.Len() {
		st.tables[i] = fold.NewTable(t.Spec())
		st.leaving, st.next = st.leaving[1:], 0
	}
	return len(st.leaving) > 0, nil
}

// Drop implements role.Role.
func (a *Aggregator) Drop(id session.ID, _ role.Outcome) { delete(a.sessions, id) }

// Snapshot implements role.Role.
func (a *Aggregator) Snapshot(id session.ID, dst []byte) []byte {
	st := a.sessions[id]
	dst = wire.AppendArray(dst, 4)
	dst = wire.AppendUint(dst, uint64(st.stream))
	dst = wire.AppendUint(dst, uint64(st.next))
	dst = wire.AppendArray(dst, len(st.leaving))
	for _, i := range st.leaving {
		dst = wire.AppendUint(dst, uint64(i))
	}
	return role.AppendTables(dst, st.tables)
}

// Restore implements role.Role.
func (a *Aggregator) Restore(id session.ID, data []byte) error {
	st := a.sessions[id]
	if st == nil {
		return errors.New("the session is not open")
	}
	d := wire.NewReader(data)
	d.ArrayOf(4)
	st.stream, st.next = int(d.Uint()), int(d.Uint())
	for n := d.Array(); n > 0; n-- {
		i := int(d.Uint())
		if i >= len(st.tables) {
			return fmt.Errorf("table %d of %d", i, len(st.tables))
		}
		st.leaving = append(st.leaving, i)
	}
	if err := role.ReadTables(&d, st.tables); err != nil {
		return err
	}
	return d.Done()
}
