package exec

import (
	"fmt"
	"posta.dev/posta/analyses/sql/exec/operators"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// runKeys computes the keys of rows into w.vector.
func (w *worker) runKeys(b *operators.Batch) error {
	w.vector = w.vector[:0]
	for _, p := range w.keys {
		v, err := operators.Compute(p, b)
		if err != nil {
			return err
		}
		w.vector = append(w.vector, v)
	}
	return nil
}

// group folds rows into their groups. The first table holds the groups; the tables of DISTINCT values follow.
func (w *worker) group(tables []*fold.Table, b *operators.Batch) error {
	t, apart := tables[0], tables[1:]
	w.into, w.whole = w.into[:0], true
	for _, s := range w.sums {
		s.known = false
	}
	err := b.Pieces(func(b *operators.Batch) error {
		w.whole = w.whole && len(w.into) == 0
		if err := w.runKeys(b); err != nil {
			return err
		}
		return w.find(t, b.Sel)
	})
	if err != nil {
		return err
	}
	all := w.counts.of(w.into, t.Len())
	for a := range w.Groups.Aggs {
		x := &w.Groups.Aggs[a]
		rows, into, counts := *b, w.into, all
		if f := w.filter[a]; f != nil {
			if err := w.pass(f, b); err != nil {
				return err
			}
			rows.Sel, into, counts = w.rows, w.passed, nil
		}
		var own *fold.Table
		if x.distinct {
			own, apart = apart[0], apart[1:]
		}
		if len(rows.Sel) == 0 || w.addShifted(a, t, b) {
			continue
		}
		err := rows.Pieces(func(piece *operators.Batch) error {
			n := len(piece.Sel)
			if n < len(rows.Sel) {
				counts = nil
			}
			if err := w.aggregate(a, t, own, piece, into[:n], counts); err != nil {
				return err
			}
			into = into[n:]
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pass finds the rows that pass the filter of an aggregate, and their groups.
func (w *worker) pass(filter *eval.Program, b *operators.Batch) error {
	w.rows, w.passed = w.rows[:0], w.passed[:0]
	into := w.into
	return b.Pieces(func(b *operators.Batch) error {
		v, err := operators.Compute(filter, b)
		if err != nil {
			return err
		}
		for k, i := range b.Sel {
			if v.Bools[i] && !v.IsNull(i) {
				w.rows, w.passed = append(w.rows, i), append(w.passed, into[k])
			}
		}
		into = into[len(b.Sel):]
		return nil
	})
}

// aggregate adds rows to an aggregate of their groups.
func (w *worker) aggregate(a int, t, own *fold.Table, b *operators.Batch, into []int32, counts []int64) (err error) {
	x, in := &w.Groups.Aggs[a], &w.in[a]
	for i, p := range w.args[a] {
		if in.Args[i], err = operators.Compute(p, b); err != nil {
			return err
		}
	}
	if x.distinct {
		return w.foldDistinct(t, own, in.Args[0], b.Sel, into)
	}
	in.Sel, in.Groups, in.Counts, in.Table = b.Sel, into, counts, t
	w.states[a].Grow(t.Len())
	bytes, err := w.states[a].Add(in)
	w.held[a] += bytes
	return err
}

// groupCounts counts the rows of each group, for all aggregates that count the same rows.
type groupCounts struct{ counts []int64 }

// of returns nil if there are too many groups. The counts are valid until the next call.
func (c *groupCounts) of(into []int32, groups int) []int64 {
	if !aggregate.Repeat(groups, len(into)) {
		return nil
	}
	c.counts = append(c.counts[:0], make([]int64, groups)...)
	for _, row := range into {
		c.counts[row]++
	}
	return c.counts
}

// find finds the groups of the selected rows by the values in vector.
func (w *worker) find(t *fold.Table, sel []int32) error {
	if len(w.vector) == 0 {
		row := t.Row(t.Key())
		for range sel {
			w.into = append(w.into, int32(row))
		}
		return nil
	}
	numbers := w.cache.Numbers(w.vector, sel, eval.MostKeys)
	if numbers == nil {
		var err error
		w.unique.before(t)
		w.into, err = w.groupsOf(t, sel, w.into)
		w.unique.after(t, len(sel))
		return err
	}
	// A key that the cache does not know yet is looked up once, by the first row that has it.
	known, m := w.cache.Known, &w.maker
	m.fresh, m.codes = m.fresh[:0], m.codes[:0]
	for k, number := range numbers {
		if known[number] == 0 {
			known[number] = -1
			m.fresh, m.codes = append(m.fresh, sel[k]), append(m.codes, number)
		}
	}
	if len(m.fresh) > 0 {
		found, err := w.groupsOf(t, m.fresh, m.found[:0])
		if m.found = found; err != nil {
			w.cache.Forget()
			return err
		}
		for k, number := range m.codes {
			known[number] = found[k] + 1
		}
	}
	for _, number := range numbers {
		w.into = append(w.into, known[number]-1)
	}
	return nil
}

// groupsOf finds or adds the groups of some rows, and appends them to `into`.
func (w *worker) groupsOf(t *fold.Table, sel, into []int32) ([]int32, error) {
	if w.Groups.columns {
		keys, err := w.maker.of(w.vector, sel)
		if err != nil {
			return into, err
		}
		return t.RowsOf(keys, sel, into), nil
	}
	for _, i := range sel {
		w.key = w.key[:0]
		for _, v := range w.vector {
			if w.key = values.Append(w.key, v, i, true); len(w.key) > FoldBytes {
				return into, errWide
			}
		}
		into = append(into, int32(t.Row(t.Key().Text(w.key))))
	}
	return into, nil
}

// errWide is returned for a row whose values are too long together. Each of them may be long, and a statement can name one many times.
var errWide = fmt.Errorf("the values of one row take more than %d MiB: name fewer columns, or shorten them", FoldBytes>>20)
