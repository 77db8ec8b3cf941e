// Package reducer is the role that has all partitions of a session's tables and computes the rows of each query, as soon
// as the streams that its tables need have ended.
//
// Rows of long answers (analyses.Query.Rows) are not kept here: the reducer passes them on as they come, and the outputs sort them.
//
// A session belongs to one reducer, chosen by its id; the other reducers get only the ends of its streams. Answers
// leave part by part as the windows of the outputs have room (R9).
package reducer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/internal/runs"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/topology"
)

// Reducer implements role.Role.
//
// Its tables do not look up keys (fold.NewUnion). A key that can be merged is in one partition, and so at one
// aggregator, which has merged it and sends it exactly once.
type Reducer struct {
	role.Base
	*runs.Store
	sessions map[session.ID]*state
}

var (
	_ role.Role    = (*Reducer)(nil)
	_ role.Worker  = (*Reducer)(nil)
	_ role.Holder  = (*Reducer)(nil)
	_ role.Spiller = (*Reducer)(nil)
)

type state struct {
	role.Session
	tables   []*fold.Table
	ended    []bool        // streams
	answered []bool        // by query, set once it is due; one more for the rejected rows
	due      []int         // queries whose parts have not all left, in order; indexes in answered
	given    int           // how many parts of the first due query have left
	task     *role.Task    // computes the first due query; nil until it begins
	made     int           // how many parts the task has computed
	part     []byte        // the task's result that leaves next; nil until computed
	passing  []*fold.Table // scratch tables for rows that are passed on; nil until needed
	stream   int
	failed   error // why the session must fail: an error of its files

	unmeasured int // bytes that were merged since the tables were measured
	measured   int // bytes of memory that they took then
}

// New returns the role.
func New() *Reducer {
	return &Reducer{Base: role.Base{Role: topology.Reducer}, Store: runs.NewStore(string(topology.Reducer)), sessions: map[session.ID]*state{}}
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
func (r *Reducer) Take(id session.ID, m role.Message, out role.Emitter) (bool, error) {
	st := r.sessions[id]
	table, err := role.TableOf(st.tables, m.Payload)
	if err != nil {
		return false, err
	}
	if q := st.Analysis.RowsQuery(table); q >= 0 {
		return false, st.pass(q, m, out) // false: this changes no state
	}
	if err := role.Merge(st.tables, m.Payload); err != nil {
		return false, err
	}
	if st.unmeasured += len(m.Payload); st.unmeasured >= max(measureEvery, st.measured/8) {
		limit := math.MaxInt // in recovery what was accepted stays accepted
		if out != nil {
			limit = max(out.Limits().Memory, leastMemory)
		}
		if err := st.fits(limit); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Held implements role.Holder: the tables, as they were last measured.
func (r *Reducer) Held(id session.ID) int {
	if st := r.sessions[id]; st != nil {
		return st.measured
	}
	return 0
}

// measureEvery is after how many bytes the tables are measured again, at the earliest. To measure some tables all of their rows are
// visited, so large ones are measured only when an eighth was added.
const measureEvery = 1 << 20

// leastMemory is how many bytes of memory the tables of a session may always take, however low limits.memory is: it was chosen for
// reference data, which counts as it travels.
const leastMemory = 64 << 20

// fits returns an error if the tables of a session take more than limit bytes. Nothing bounds them otherwise: a function of the analysis
// needs them whole.
func (st *state) fits(limit int) error {
	total, largest := 0, st.tables[0]
	for _, t := range st.tables {
		total += t.Bytes()
		if t.Bytes() > largest.Bytes() {
			largest = t
		}
	}
	if st.measured, st.unmeasured = total, 0; total <= limit {
		return nil
	}
	return fmt.Errorf("the answer needs %d MiB in the reducer, most of it for %d rows of table %s, and limits.memory is %d MiB: raise it "+
		"in the topology, or ask for less",
		total>>20, largest.Len(), largest.Spec().Name, limit>>20)
}

// End implements role.Role. A query is due when all its streams have ended.
func (r *Reducer) End(id session.ID, stream int, _ role.Emitter) (bool, error) {
	st := r.sessions[id]
	st.stream = stream
	st.ended[stream] = true
	if err := r.rest(st); err != nil {
		return false, err
	}
	if role.Partition(id, st.Replica.Of) != st.Replica.Index {
		return false, nil
	}
	for q := range st.Analysis.Queries {
		if st.answered[q] || !st.complete(q) {
			continue
		}
		st.answered[q] = true
		st.due = append(st.due, q)
	}
	if last := len(st.answered) - 1; !st.answered[last] && !slices.Contains(st.ended, false) {
		st.answered[last] = true
		st.due = append(st.due, last)
	}
	return st.more(), nil
}

func (st *state) more() bool { return len(st.due) > 0 }

// Work implements role.Worker. It computes a slice of the next part. A task that starts again after a restart of the node also computes the
// parts that have already left, and drops them.
func (r *Reducer) Work(id session.ID) (bool, error) {
	st := r.sessions[id]
	if len(st.due) == 0 || st.part != nil || st.failed != nil {
		return false, st.failed
	}
	if st.task == nil {
		st.task, st.made = r.begin(st, st.due[0]), 0
	}
	result, done, err := st.task.Slice()
	switch {
	case err != nil:
		return false, err
	case done:
		return false, fmt.Errorf("computing query %d again has made %d parts, where %d have left", st.due[0], st.made, st.given)
	case result == nil:
		return true, nil
	}
	if st.made++; st.made > st.given {
		st.part = result
	}
	return st.part == nil, nil
}

// A task's result is one byte, which says whether the part is the query's last one, and the part.
const (
	furtherPart = iota
	lastPart
)

// result returns a part in the form that the task hands over.
func result(kind byte, p protocol.Part) []byte { return appendPart([]byte{kind}, p) }

// begin returns the computation of a query. The query's tables no longer change.
func (r *Reducer) begin(st *state, q int) *role.Task {
	switch {
	case q == len(st.Analysis.Queries):
		return role.NewTask(nil, st.rejected)
	case st.Analysis.Queries[q].Rows != nil:
		return role.NewTask(nil, func(put func([]byte)) error { return st.passed(q, put) })
	}
	var tables []*fold.Table
	for _, name := range st.Analysis.Queries[q].Tables {
		t := st.tables[st.Analysis.TableIndex(name)]
		t.SetMemory(st.Replica.Memory)
		t.SetScratch(r.Scratch)
		if i := st.Analysis.TableIndex(name); r.Of(st.ID).Len(i) > 0 {
			t.SetMoved(func(bucket int, each func(partial []byte) error) error { return r.Of(st.ID).Read(i, bucket, each) })
		}
		tables = append(tables, t)
	}
	return role.NewTask(tables, func(put func([]byte)) error { return st.answer(q, tables, put) })
}

// Close implements role.Worker.
func (r *Reducer) Close() {
	for _, st := range r.sessions {
		st.task.Stop()
	}
}

// complete reports whether a query's tables are complete, that is, whether their streams have ended.
func (st *state) complete(q int) bool {
	for _, name := range st.Analysis.Queries[q].Tables {
		if !role.Complete(st.Analysis, st.Analysis.TableIndex(name), st.ended) {
			return false
		}
	}
	return true
}

// answer computes a query. An error of the analysis' function gets the query's name (N6).
func (st *state) answer(q int, tables []*fold.Table, put func([]byte)) (err error) {
	query := &st.Analysis.Queries[q]
	defer role.Explain(&err, func() string { return "query " + query.Name })
	for _, t := range tables {
		if err := t.Err(); err != nil {
			return err
		}
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
			put(result(furtherPart, part))
			part.Offset += uint64(part.Rows.Len())
			part.Rows = protocol.NewRows(len(query.Columns))
		}
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	for _, t := range tables { // some errors of a union of tables show only when it is read
		if err := t.Err(); err != nil {
			return err
		}
	}
	part.Last = true
	put(result(lastPart, part))
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

// rejected makes the last part: how many rows of each stream were rejected, and the first of them (N7). It also names
// streams without rejected rows, as a run in one process does (D1).
func (st *state) rejected(put func([]byte)) error {
	part := protocol.Part{Last: true}
	counts, err := analyses.RejectedRows(st.tables[len(st.tables)-1])
	if err != nil {
		return err
	}
	for i := range st.Analysis.Streams {
		for _, name := range st.Analysis.Streams[i].Counts() {
			r := counts[name]
			p := protocol.Rejected{Stream: name, Rows: r.Rows}
			for _, f := range r.First {
				p.First = append(p.First, protocol.RejectedRow{File: f.File, Line: f.Line, Reason: f.Reason})
			}
			part.Rejected = append(part.Rejected, p)
		}
	}
	put(result(lastPart, part))
	return nil
}

// More implements role.Role. If files cannot be read, the next call of Work returns the error: if More returned it, a node whose recovery
// repeats the call could not start. It emits one part. limits.frame decides into how many messages the part is split, but not how many
// parts are left. So a repeated call has the same effect, even under another limit.
func (r *Reducer) More(id session.ID, out role.Emitter) (bool, error) {
	st := r.sessions[id]
	for more := true; more; {
		var err error
		if more, err = r.Work(id); err != nil && len(r.Of(id).Files()) > 0 {
			st.failed = err
			return true, nil
		} else if err != nil {
			return false, err
		}
	}
	if st.part != nil {
		if err := st.emit(st.part[1:], out); err != nil {
			return false, err
		}
		if st.given++; st.part[0] == lastPart {
			st.task.Stop()
			st.task, st.due, st.given = nil, st.due[1:], 0
		}
		st.part = nil
	}
	return st.more(), nil
}

// Drop implements role.Role.
func (r *Reducer) Drop(id session.ID, _ role.Outcome) {
	if st := r.sessions[id]; st != nil {
		st.task.Stop()
		delete(r.sessions, id)
	}
	r.Forget(id)
}

// Snapshot implements role.Role.
func (r *Reducer) Snapshot(id session.ID, dst []byte) []byte {
	st := r.sessions[id]
	dst = wire.AppendArray(dst, snapshotFields)
	dst = wire.AppendUint(dst, uint64(st.stream))
	dst = wire.AppendBools(dst, st.ended)
	dst = wire.AppendBools(dst, st.answered)
	dst = wire.AppendArray(dst, len(st.due))
	for _, q := range st.due {
		dst = wire.AppendUint(dst, uint64(q))
	}
	dst = wire.AppendUint(dst, uint64(st.given))
	dst = role.AppendTables(dst, st.tables)
	return r.Of(id).Append(dst)
}

// Fields of a snapshot.
const (
	snapshotFields = 7
	withoutRuns    = 6 // snapshots of programs that kept all tables in memory
)

// Restore implements role.Role.
func (r *Reducer) Restore(id session.ID, data []byte) error {
	st := r.sessions[id]
	if st == nil {
		return errors.New("the session is not open")
	}
	d := wire.NewReader(data)
	fields := d.Array()
	if fields != snapshotFields && fields != withoutRuns {
		d.Fail("%d fields", fields)
	}
	st.stream = int(d.Uint())
	d.Bools(st.ended)
	d.Bools(st.answered)
	for n := d.Array(); n > 0; n-- {
		st.due = append(st.due, int(d.Uint()))
	}
	st.given = int(d.Uint())
	if len(st.due) > 0 && slices.Max(st.due) >= len(st.answered) {
		return fmt.Errorf("query %d of %d", slices.Max(st.due), len(st.answered)-1)
	}
	if err := role.ReadTables(&d, st.tables); err != nil {
		return err
	}
	if fields == snapshotFields {
		r.Store.Restore(id, &d)
	}
	return errors.Join(st.fits(math.MaxInt), d.Done())
}
