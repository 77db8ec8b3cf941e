// Package reducer is the role that has all partitions of a session's tables and computes the rows of each query, as soon
// as the streams that its tables need have ended.
//
// A session belongs to one reducer, chosen by its id; the others see its ends and nothing else. Answers leave part by part
// as the windows of the outputs have room (R9).
package reducer

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/topology"
)

// Reducer implements role.Role.
//
// Its tables look for no key (fold.NewUnion): one that is merged at all is in one partition, which one aggregator has, leaves that
// once, and comes here exactly once.
type Reducer struct {
	role.Base
	sessions map[session.ID]*state
}

var _ role.Role = (*Reducer)(nil)

type state struct {
	role.Session
	tables   []*fold.Table
	ended    []bool   // streams
	answered []bool   // queries; behind them the rejected rows
	parts    [][]byte // computed, not yet emitted
	stream   int
}

// New returns the role.
func New() *Reducer {
	return &Reducer{Base: role.Base{Role: topology.Reducer}, sessions: map[session.ID]*state{}}
}

// Open implements role.Role.
func (r *Reducer) Open(s role.Session) error {
	for _, q := range s.Analysis.Queries {
		for _, t := range q.Tables {
			if s.Analysis.TableIndex(t) < 0 {
				return fmt.Errorf("query %s is computed from table %s, which analysis %s does not have", q.Name, t, s.Analysis.Name)
			}
		}
	}
	r.sessions[s.ID] = &state{
		Session: s, tables: role.NewTables(s.Analysis, fold.NewUnion),
		ended: make([]bool, len(s.Analysis.Streams)), answered: make([]bool, len(s.Analysis.Queries)+1),
	}
	return nil
}

// Take implements role.Role.
func (r *Reducer) Take(id session.ID, m role.Message, _ role.Emitter) (bool, error) {
	if err := role.Merge(r.sessions[id].tables, m.Payload); err != nil {
		return false, err
	}
	return true, nil
}

// End implements role.Role: it computes every query whose streams have all ended.
func (r *Reducer) End(id session.ID, stream int, _ role.Emitter) (bool, error) {
	st := r.sessions[id]
	st.stream = stream
	st.ended[stream] = true
	if role.Partition(id, st.Replica.Of) != st.Replica.Index {
		return false, nil
	}
	for q := range st.Analysis.Queries {
		if st.answered[q] || !st.complete(q) {
			continue
		}
		st.answered[q] = true
		if err := st.answer(q); err != nil {
			return false, err
		}
	}
	if last := len(st.answered) - 1; !st.answered[last] && !slices.Contains(st.ended, false) {
		st.answered[last] = true
		if err := st.rejected(); err != nil {
			return false, err
		}
	}
	return len(st.parts) > 0, nil
}

// complete reports whether a query's tables are: their streams have ended.
func (st *state) complete(q int) bool {
	for _, name := range st.Analysis.Queries[q].Tables {
		if !st.ended[role.TableStream(st.Analysis, st.Analysis.TableIndex(name))] {
			return false
		}
	}
	return true
}

// answer computes a query. An error of the analysis' function gets the query's name (N6).
func (st *state) answer(q int) (err error) {
	query := &st.Analysis.Queries[q]
	defer role.Explain(&err, func() string { return "query " + query.Name })
	var tables []*fold.Table
	for _, name := range query.Tables {
		t := st.tables[st.Analysis.TableIndex(name)]
		if err := t.Err(); err != nil {
			return err
		}
		tables = append(tables, t)
	}
	part := protocol.Part{Query: query.Name, Columns: query.Columns, Rows: protocol.NewRows(len(query.Columns))}
	row := make([]protocol.Value, len(query.Columns))
	var bad error
	err = st.Analysis.Reduce(st.Args, q, tables, func(cells ...any) {
		progress.Mark()
		if bad != nil {
			return
		}
		if bad = fill(row, cells); bad != nil {
			return
		}
		if bad = part.Rows.Add(row...); bad == nil && part.Rows.Size() >= protocol.PartBytes/2 {
			st.put(part)
			part.Offset += uint64(part.Rows.Len())
			part.Rows = protocol.NewRows(len(query.Columns))
		}
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	for _, t := range tables { // what is wrong with a union of tables may only be seen when it is read
		if err := t.Err(); err != nil {
			return err
		}
	}
	part.Last = true
	st.put(part)
	return nil
}

func fill(row []protocol.Value, cells []any) (err error) {
	if len(cells) != len(row) {
		return fmt.Errorf("a row of %d cells for %d columns", len(cells), len(row))
	}
	for i, c := range cells {
		if row[i], err = protocol.ValueOf(c); err != nil {
			return err
		}
	}
	return nil
}

// rejected makes the last part: how many rows of each stream were rejected, and the first of them (N7). It names every
// stream, also those without: "none" is an answer, and the same one that a run in one process gives (D1).
func (st *state) rejected() error {
	part := protocol.Part{Last: true}
	counts, err := analyses.RejectedRows(st.tables[len(st.tables)-1])
	if err != nil {
		return err
	}
	for _, s := range st.Analysis.Streams {
		r := counts[s.Name]
		p := protocol.Rejected{Stream: s.Name, Rows: r.Rows}
		for _, f := range r.First {
			p.First = append(p.First, protocol.RejectedRow{File: f.File, Line: f.Line, Reason: f.Reason})
		}
		part.Rejected = append(part.Rejected, p)
	}
	st.put(part)
	return nil
}

// put keeps a part in the form in which it travels.
func (st *state) put(p protocol.Part) {
	st.parts = append(st.parts, encode(p))
}

// More implements role.Role: one part. How often it has to be split depends on limits.frame, and how many parts are left does not: a repeated
// call does the same.
func (r *Reducer) More(id session.ID, out role.Emitter) (bool, error) {
	st := r.sessions[id]
	if len(st.parts) == 0 {
		return false, nil
	}
	if err := st.emit(st.parts[0], out); err != nil {
		return false, err
	}
	st.parts = st.parts[1:]
	return len(st.parts) > 0, nil
}

// Drop implements role.Role.
func (r *Reducer) Drop(id session.ID, _ role.Outcome) { delete(r.sessions, id) }

// Snapshot implements role.Role.
func (r *Reducer) Snapshot(id session.ID, dst []byte) []byte {
	st := r.sessions[id]
	dst = wire.AppendArray(dst, 5)
	dst = wire.AppendUint(dst, uint64(st.stream))
	dst = wire.AppendBools(dst, st.ended)
	dst = wire.AppendBools(dst, st.answered)
	dst = wire.AppendArray(dst, len(st.parts))
	for _, p := range st.parts {
		dst = wire.AppendBin(dst, p)
	}
	return role.AppendTables(dst, st.tables)
}

// Restore implements role.Role.
func (r *Reducer) Restore(id session.ID, data []byte) error {
	st := r.sessions[id]
	if st == nil {
		return errors.New("the session is not open")
	}
	d := wire.NewReader(data)
	d.ArrayOf(5)
	st.stream = int(d.Uint())
	d.Bools(st.ended)
	d.Bools(st.answered)
	for n := d.Array(); n > 0; n-- {
		st.parts = append(st.parts, slices.Clone(d.Bytes()))
	}
	if err := role.ReadTables(&d, st.tables); err != nil {
		return err
	}
	return d.Done()
}
