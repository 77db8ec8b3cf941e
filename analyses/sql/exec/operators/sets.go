package operators

import (
	"errors"
	"hash/maphash"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// distinct keeps the first of equal rows, or of rows with equal On.
func (x *Executor) distinct(n *plan.Distinct, to sink) error {
	on, err := x.compileAll(n.On, plan.LayoutOf(n.Input.Fields()))
	if err != nil {
		return err
	}
	keys := allColumns
	if len(on) > 0 {
		keys = func(b *Batch) ([]*eval.Vector, error) { return evalAll(on, b) }
	}
	d := x.newDedup(n.Fields(), keys, to)
	defer d.release()
	return d.end(x.stream(n.Input, d.add))
}

// allColumns makes a row its own key.
func allColumns(b *Batch) ([]*eval.Vector, error) {
	b.Columns = canonical(b.Columns)
	return b.Columns, nil
}

// fresh returns the rows whose key is new.
func (ix *index) fresh(keys []*eval.Vector, sel []int32) (out []int32, err error) {
	for _, i := range sel {
		ix.row(keys, i)
		_, fresh, err := ix.id()
		if err != nil {
			return nil, err
		}
		if fresh {
			out = append(out, i)
		}
	}
	return out, nil
}

// canonical gives equal DOUBLEs the same bits, so it does not matter which of several equal rows is kept.
func canonical(columns []*eval.Vector) []*eval.Vector {
	out := slices.Clone(columns)
	for i, c := range out {
		if c == nil || c.Kind != types.Double {
			continue
		}
		v := *c
		v.Floats = make([]float64, len(c.Floats))
		for k, f := range c.Floats {
			v.Floats[k] = values.Positive(f)
		}
		out[i] = &v
	}
	return out
}

// setOp computes UNION, EXCEPT and INTERSECT. The left rows come first, in their order, then those of the right side.
func (x *Executor) setOp(n *plan.SetOp, to sink) error {
	if !n.All {
		d := x.newDedup(n.Fields(), allColumns, to)
		defer d.release()
		return d.end(x.setOpAll(n, d.add))
	}
	return x.setOpAll(n, to)
}

// setOpAll is setOp in which equal left rows are passed on, unless ALL requires partners for them.
func (x *Executor) setOpAll(n *plan.SetOp, to sink) error {
	if n.Kind == syntax.Union {
		if err := x.stream(n.L, to); err != nil {
			return err
		}
		return x.stream(n.R, to)
	}
	m := &membership{x: x, n: n, right: x.newIndex(), to: to}
	defer m.release()
	m.right.soft = true
	if err := x.stream(n.R, m.addRight); err != nil {
		return err
	}
	return m.end(x.stream(n.L, m.addLeft))
}

// membership passes on the left rows of EXCEPT or INTERSECT. If the right rows do not fit the memory, both sides are divided into
// partitions by their values.
type membership struct {
	x     *Executor
	n     *plan.SetOp
	to    sink
	depth int
	right *index
	left  []int64 // by key, how many rows of the right side are left

	rights, lefts *partitions // nil as long as the right rows are in memory
	rows          int64       // of the left side, once there are partitions
}

func (m *membership) release() {
	m.right.release()
	m.rights.release()
	m.lefts.release()
}

func (m *membership) key(b *Batch) func(row int32) []byte {
	return func(row int32) []byte {
		m.right.row(b.Columns[:len(m.n.Fields())], row)
		return m.right.key
	}
}

func (m *membership) addRight(b *Batch) error {
	once := eval.NewVector(types.BigInt, b.N)
	for _, i := range b.Sel {
		once.Ints[i] = 1
	}
	return m.addCounted(&Batch{Columns: append(slices.Clone(b.Columns), once), N: b.N, Sel: b.Sel})
}

// addCounted adds right rows whose last column says how many of them there are.
func (m *membership) addCounted(b *Batch) error {
	key := m.key(b)
	if m.rights != nil {
		return m.rights.add(b, key)
	}
	for _, i := range b.Sel {
		key(i)
		id, fresh, err := m.right.id()
		if err != nil {
			return err
		}
		if fresh {
			m.left = append(m.left, 0)
			if err := m.right.hold(8); err != nil {
				return err
			}
		}
		m.left[id] += b.Columns[len(b.Columns)-1].Ints[i]
	}
	if !m.right.full() || m.depth >= deepest {
		return nil
	}
	return m.divide()
}

// divide moves the right rows to partitions. Their order does not matter.
func (m *membership) divide() (err error) {
	fields, seed := m.n.Fields(), maphash.MakeSeed()
	counted := append(slices.Clone(fields), plan.Field{Type: types.Of(types.BigInt)})
	if m.rights, err = m.x.newPartitions(counted, fanOut, seed); err != nil {
		return err
	}
	if m.lefts, err = m.x.newPartitions(widened(fields), fanOut, seed); err != nil {
		return err
	}
	kept := m.right
	defer kept.release()
	m.right = m.x.newIndex()
	var b *Batch
	for key, id := range kept.ids {
		if b == nil {
			b = &Batch{}
			for _, f := range counted {
				b.Columns = append(b.Columns, &eval.Vector{Kind: f.Type.Kind})
			}
		}
		rest := []byte(key)
		for _, v := range b.Columns[:len(fields)] {
			if rest, err = values.Cut(v, b.N, rest); err != nil {
				return err
			}
		}
		n := b.Columns[len(fields)]
		n.Ints, n.Nulls = append(n.Ints, m.left[id]), make([]uint64, b.N/64+1)
		if b.N++; b.N == batchRows {
			b.Sel = m.x.all(b.N)
			if err := m.addCounted(b); err != nil {
				return err
			}
			b = nil
		}
	}
	if b == nil {
		return nil
	}
	b.Sel = m.x.all(b.N)
	return m.addCounted(b)
}

// find returns which of the left rows are passed on.
func (m *membership) find(b *Batch) (out []int32) {
	for _, i := range b.Sel {
		m.right.row(b.Columns, i)
		id, found := m.right.ids[string(m.right.key)]
		found = found && m.left[id] > 0
		if found && m.n.All {
			m.left[id]--
		}
		if found == (m.n.Kind == syntax.Intersect) {
			out = append(out, i)
		}
	}
	return out
}

func (m *membership) addLeft(b *Batch) error {
	if m.rights == nil {
		return handOn(b, b.Columns, m.find(b), nil, m.to)
	}
	return m.lefts.add(widen(b, numbered(b, &m.rows)), m.key(b))
}

// end must be called after the last left row, with the error that ended the rows, or nil.
func (m *membership) end(failed error) error {
	if m.rights == nil {
		return failed
	}
	last := &failure{}
	if e := (*values.Error)(nil); errors.As(failed, &e) {
		last.note(failed, m.rows)
	} else if failed != nil {
		return failed
	}
	return m.searched(last, func(b *Batch) error {
		of, _ := narrow(b)
		return of.Pieces(m.to)
	})
}

// searched passes on the left rows of the partitions, in wide batches.
func (m *membership) searched(failed *failure, to sink) error {
	if err := errors.Join(m.rights.end(), m.lefts.end()); err != nil {
		return err
	}
	runs, err := m.x.newRuns(m.n.Fields())
	defer runs.release()
	if err != nil {
		return err
	}
	for i := range m.rights.writers {
		if err := errors.Join(m.search(i, runs.add), runs.next()); err != nil {
			return err
		}
	}
	return runs.stream(failed, to)
}

// search passes on the left rows of a partition.
func (m *membership) search(i int, to sink) error {
	in := &membership{x: m.x, n: m.n, depth: m.depth + 1, right: m.x.newIndex()}
	in.right.soft = true
	defer in.release()
	if err := m.rights.stream(i, in.addCounted); err != nil {
		return err
	}
	err := m.lefts.stream(i, func(wide *Batch) error {
		b, numbers := narrow(wide)
		if in.rights != nil {
			return in.lefts.add(wide, in.key(b))
		}
		if b.Sel = in.find(b); len(b.Sel) == 0 {
			return nil
		}
		return to(widen(b, numbers))
	})
	if err != nil || in.rights == nil {
		return err
	}
	return in.searched(&failure{}, to)
}
