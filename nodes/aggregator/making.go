package aggregator

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
)

// maker makes the first table of state.making. When the task has a part of the table ready, it waits until all pages of that part have
// left, and then continues.
type maker struct {
	task  *role.Task
	made  *fold.Table
	times int  // how many times the task has handed over a part of the table
	ready bool // the part leaves now
	last  bool // the part contains the rest of the table's rows
}

// The result of a task: whether the part that leaves contains the rest of the table's rows.
var (
	furtherRows = []byte{0}
	lastRows    = []byte{1}
)

func (m *maker) stop() {
	if m != nil {
		m.task.Stop()
	}
}

// wait keeps rows from which another table will be made.
func (st *state) wait(i int, payload []byte) error {
	if st.waiting[i] == nil {
		return role.Merge(st.tables, payload)
	}
	rows, err := role.RowsOf(st.tables, payload)
	if err != nil {
		return err
	}
	return st.waiting[i].Merge(rows)
}

// makeSlice does a slice of making a table.
func (a *Aggregator) makeSlice(st *state) (more bool, err error) {
	m := st.maker
	if m == nil {
		m = a.newMaker(st, st.making[0])
		st.maker = m
	}
	if m.ready {
		return false, nil
	}
	result, done, err := m.task.Slice()
	switch {
	case err == nil && done:
		err = fmt.Errorf("table %s was made again, and has fewer rows than have left", m.made.Spec().Name)
		fallthrough
	case err != nil:
		st.failed = err
		return false, err
	case result == nil:
		return true, nil
	}
	if m.times++; m.times <= st.left { // it left before a restart
		return true, nil
	}
	m.ready, m.last = true, result[0] == lastRows[0]
	return false, nil
}

// ends notes the end of a stream, and lists the tables that can be made now.
func (st *state) ends(stream int) {
	was := slices.Clone(st.ended)
	st.stream, st.ended[stream] = stream, true
	for i := range st.Analysis.Tables {
		if len(st.Analysis.MadeOf(i)) > 0 && role.Complete(st.Analysis, i, st.ended) && !role.Complete(st.Analysis, i, was) {
			st.making = append(st.making, i)
		}
	}
}

// makes reports whether the next page belongs to a table that is being made.
func (st *state) makes() bool {
	return len(st.making) > 0 && len(st.leaving) == 0 && st.parts == nil && !st.prunes
}

// madePage emits a page of the table that is being made.
func (a *Aggregator) madePage(st *state, out role.Emitter) error {
	if err := a.makeRows(st); err != nil {
		return err
	}
	if err := a.emit(st, st.making[0], st.maker.made, out); err != nil {
		return err
	}
	if st.next >= st.maker.made.Len() {
		st.madeLeft()
	}
	return nil
}

// makeRows works until rows of the table that is being made can leave.
func (a *Aggregator) makeRows(st *state) error {
	for {
		if more, err := a.makeSlice(st); !more || err != nil {
			return err
		}
	}
}

// madeLeft is called when all rows of the part that the task handed over have left: it lets the task continue, or ends the making of this
// table.
func (st *state) madeLeft() {
	st.next = 0
	if m := st.maker; !m.last {
		st.left++
		m.ready = false
		return
	}
	st.maker.stop()
	made := st.making[0]
	st.maker, st.making, st.left = nil, st.making[1:], 0
	for _, i := range st.Analysis.MadeOf(made) {
		if !st.needed(i) {
			st.empty(i)
		}
	}
}

// needed reports whether a later table is made of table i.
func (st *state) needed(i int) bool {
	for made := range st.Analysis.Tables {
		for _, from := range st.Analysis.MadeOf(made) {
			if from != i {
				continue
			}
			if !role.Complete(st.Analysis, made, st.ended) {
				return true
			}
			if slices.Contains(st.making, made) {
				return true
			}
		}
	}
	return false
}

// newMaker returns the maker of a table.
func (a *Aggregator) newMaker(st *state, table int) *maker {
	making := analyses.NewMaking(st.Analysis, st.Args, table, func(i int) fold.Parted { return a.parted(st, i) })
	tables, made := making.Tables()
	for _, t := range tables {
		t.SetMemory(st.Replica.Memory)
		t.SetScratch(a.Scratch)
	}
	m := &maker{made: made}
	where := st.queryOf(table)
	m.task = role.NewTask(tables, func(put func([]byte)) (err error) {
		defer role.Explain(&err, func() string { return where })
		for _, i := range st.Analysis.MadeOf(table) {
			if err := st.tables[i].Err(); err != nil {
				return err
			}
		}
		if err := making.Run(func() { put(furtherRows) }); err != nil {
			return err
		}
		put(lastRows)
		return nil
	})
	return m
}

// queryOf names the query that needs a table, for errors (N6).
func (st *state) queryOf(table int) string {
	name := st.Analysis.Tables[table].Name
	for i := range st.Analysis.Queries {
		for _, t := range st.Analysis.Queries[i].Tables {
			if t == name {
				return "query " + st.Analysis.Queries[i].Name
			}
		}
	}
	return "table " + name
}
