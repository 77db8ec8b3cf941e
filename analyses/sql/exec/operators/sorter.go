package operators

import (
	"slices"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
)

// sorter orders rows: in memory, or by an external merge sort. Equal rows keep their order.
type sorter struct {
	x      *Executor
	fields []plan.Field // of the rows that are added
	passed int          // how many of the columns are passed on: the first ones
	keys   []sortKey
	best   int // if it is not 0, only that many of the first rows are needed
	rows   *store
	file   *file
	runs   []run
}

func (x *Executor) newSorter(fields []plan.Field, passed int, keys []sortKey, best int) *sorter {
	return &sorter{x: x, fields: fields, passed: passed, keys: keys, best: best, rows: x.newSpilling(fields)}
}

func (s *sorter) release() {
	s.rows.release()
	s.file.remove()
}

// add adds the selected rows of a batch.
func (s *sorter) add(b *Batch) error {
	if err := s.rows.add(b); err != nil {
		return err
	}
	if s.best > 0 && s.rows.n >= 2*s.best+batchRows {
		less := s.x.newSpilling(s.fields)
		if err := s.rows.order(s.order(), less.add); err != nil {
			return err
		}
		s.rows.release()
		s.rows = less
	}
	if s.rows.full() {
		return s.flush()
	}
	return nil
}

// order returns the order of the rows in memory.
func (s *sorter) order() []int32 {
	rows := make([]int32, s.rows.n)
	for i := range rows {
		rows[i] = int32(i)
	}
	keys := make([]values.Key, len(s.keys))
	for i := range s.keys {
		keys[i] = s.keys[i].of(s.rows.columns)
	}
	values.Sort(rows, keys, s.x.pause)
	if s.best > 0 {
		rows = rows[:min(s.best, len(rows))]
	}
	return rows
}

// flush moves the rows in memory to a run.
func (s *sorter) flush() (err error) {
	if s.rows.n == 0 {
		return nil
	}
	if s.file == nil {
		if s.file, err = s.x.newFile(kindsOf(s.fields)); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, run{})
	if err := s.file.add(&s.runs[len(s.runs)-1], s.rows.columns, s.order()); err != nil {
		return err
	}
	s.rows.reset()
	return nil
}

// mostMerged bounds how many runs are merged at once, however little memory their blocks take: a larger heap compares more.
const mostMerged = 64

// fan returns how many of the runs are merged at once, so that their blocks take at most a quarter of the limit.
func (x *Executor) fan(runs []run) int {
	widest := int64(1)
	for _, r := range runs {
		widest = max(widest, r.widest)
	}
	return int(min(max(x.limit/4/widest, 2), mostMerged))
}

// merged merges runs in passes until there are so few that they can be merged at once.
func (s *sorter) merged() error {
	for fan := s.x.fan(s.runs); len(s.runs) > fan; fan = s.x.fan(s.runs) {
		next, err := s.x.newFile(s.file.kinds)
		if err != nil {
			return err
		}
		var runs []run
		for part := range slices.Chunk(s.runs, fan) {
			var made run
			g := &gathering{kinds: s.file.kinds, x: s.x, to: func(b *Batch) error { return next.add(&made, b.Columns, b.Sel) }}
			err := s.each(s.file.newMerge(part, s.keys), g.add)
			if err == nil {
				err = g.flush()
			}
			if err != nil {
				next.remove()
				return err
			}
			runs = append(runs, made)
		}
		s.file.remove()
		s.file, s.runs = next, runs
	}
	return nil
}

// each passes on the rows of a merge, of which at most best are needed.
func (s *sorter) each(m *merge, to func(pick) error) error {
	for n := 0; s.best == 0 || n < s.best; n++ {
		p, ok, err := m.next()
		if !ok || err != nil {
			return err
		}
		if err := to(p); err != nil {
			return err
		}
	}
	return nil
}

// sorted is a source of rows in their order.
type sorted interface {
	// next returns the next row, which is valid until the call after the next one; false if there is none.
	next() (p pick, ok bool, err error)
}

// inMemory is rows in memory in an order.
type inMemory struct {
	b    *Batch
	rows []int32
}

func (m *inMemory) next() (p pick, ok bool, err error) {
	if len(m.rows) == 0 {
		return p, false, nil
	}
	p = pick{m.b, m.rows[0]}
	m.rows = m.rows[1:]
	return p, true, nil
}

// result ends the adding, and returns the rows in their order, with all columns.
func (s *sorter) result() (sorted, error) {
	if s.file == nil {
		if err := s.rows.hold(4 * int64(s.rows.n)); err != nil { // for the order of the rows
			return nil, err
		}
		return &inMemory{&Batch{Columns: s.rows.columns, N: s.rows.n}, s.order()}, nil
	}
	if err := s.flush(); err != nil {
		return nil, err
	}
	if err := s.merged(); err != nil {
		return nil, err
	}
	return s.file.newMerge(s.runs, s.keys), nil
}

// stream ends the adding, and passes on the rows from number lo up to hi, in their order.
func (s *sorter) stream(lo, hi int, to sink) error {
	r, err := s.result()
	if err != nil {
		return err
	}
	if m, ok := r.(*inMemory); ok {
		hi = min(hi, len(m.rows))
		s.rows.columns = s.rows.columns[:s.passed]
		return s.rows.order(m.rows[min(lo, hi):hi], to)
	}
	g := &gathering{kinds: s.file.kinds[:s.passed], x: s.x, to: to}
	for n := 0; n < hi; n++ {
		p, ok, err := r.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if n < lo {
			continue
		}
		if err := g.add(p); err != nil {
			return err
		}
	}
	return g.flush()
}

// sort passes on rows in the order of a Sort.
func (x *Executor) sort(n *plan.Sort, lo, hi, best int, to sink) error {
	at, width := plan.LayoutOf(n.Input.Fields()), len(n.Input.Fields())
	fields := slices.Clone(n.Input.Fields())
	var exprs []plan.Expr
	var keys []sortKey
	for i, o := range n.Keys {
		exprs = append(exprs, o.X)
		keys = append(keys, sortKey{width + i, o.Desc, o.NullsFirst})
		fields = append(fields, plan.Field{Type: o.X.Type()})
	}
	programs, err := x.compileAll(exprs, at)
	if err != nil {
		return err
	}
	s := x.newSorter(fields, width, keys, best)
	defer s.release()
	err = x.stream(n.Input, func(b *Batch) error {
		values, failed := evalAll(programs, b)
		if values == nil {
			return failed
		}
		return handOn(b, append(slices.Clone(b.Columns), values...), b.Sel, failed, s.add)
	})
	if err != nil {
		return err
	}
	return s.stream(lo, hi, to)
}
