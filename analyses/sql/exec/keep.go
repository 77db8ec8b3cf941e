package exec

import (
	"errors"
	"fmt"
	"posta.dev/posta/analyses/sql/exec/operators"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// errFull ends the work on rows behind the first ones, if the leaf wants only these. Without it a LIMIT over long values would compute all
// of them.
var errFull = errors.New("the rows behind are not among the first")

// inOrder reports whether the leaf wants the first rows, and meets the rows of a batch in their order.
func (w *worker) inOrder() bool {
	return w.firstRows() && len(w.pos.joined.before) == 0 && w.pos.groups == nil
}

// full reports whether the leaf has as many rows as it wants, all of them before the slice that begins.
func (w *worker) full() bool {
	if w.pos.joined = (joined{}); w.worst == nil || !w.firstRows() || w.swaps {
		return false
	}
	w.key = w.pos.append(w.key[:0], 0)
	return string(w.key) > string(w.worst)
}

// keepBest keeps the best rows of all.
func (w *worker) keepBest(t *fold.Table, b *operators.Batch) error {
	orders := make([]*eval.Vector, len(w.orders))
	for k, p := range w.orders {
		v, err := operators.Compute(p, b)
		if err != nil {
			return err
		}
		orders[k] = v
	}
	row := t.Row(t.Key())
	for _, i := range b.Sel {
		w.key = w.key[:0]
		for k, v := range orders {
			w.key = values.AppendOrdered(w.key, v, i, &w.Best.Orders[k])
		}
		w.key = w.pos.append(w.key, i)
		if w.firstRows() {
			w.key = append(w.key, rowKept)
		}
		if w.worst != nil && string(w.key) > string(w.worst) {
			if w.inOrder() {
				return errFull
			}
			continue
		}
		var err error
		if w.row, err = w.appendRow(fold.AppendText(w.row[:0], w.key), b.Columns, i); err != nil {
			return err
		}
		t.PutLeast(row, 0, w.row)
		if all := t.Least(row, 0); len(all) == w.Best.N {
			worst, _, err := fold.CutText(all[len(all)-1])
			if err != nil {
				return err
			}
			w.worst = worst
		}
	}
	return nil
}

// keepDistinct keeps each distinct row with its first position.
func (w *worker) keepDistinct(t *fold.Table, b *operators.Batch) error {
	for _, i := range b.Sel {
		w.key = w.key[:0]
		for c, needed := range w.Needed {
			if needed {
				w.key = values.Append(w.key, b.Columns[c], i, true)
			}
			if len(w.key) > FoldBytes {
				return errWide
			}
		}
		w.row = w.pos.append(w.row[:0], i)
		t.PutMinText(t.Row(t.Key().Text(w.key)), 0, w.row)
	}
	return nil
}

// keepRows sends rows with their positions.
func (w *worker) keepRows(j *Joiner, b *operators.Batch) error {
	t := j.tables[w.Table]
	for _, i := range b.Sel {
		w.key = w.pos.append(w.key[:0], i)
		var err error
		if w.row, err = w.appendRow(w.row[:0], b.Columns, i); err != nil {
			return err
		}
		t.Row(t.Key().Text(w.key).Text(w.row))
		if !w.Unkept {
			j.sent += int64(len(w.key) + len(w.row))
		}
	}
	return j.bounded()
}

// bounded returns an error if the joiner and its forks have sent too many bytes of rows.
func (j *Joiner) bounded() error {
	if j.sent > j.Most {
		return fmt.Errorf(
			"the statement sends rows of more than %d bytes to one process: group them, narrow them by WHERE, or name fewer columns", j.Most)
	}
	return nil
}

// appendRow appends the columns of a row that the tail reads.
func (w *worker) appendRow(b []byte, columns []*eval.Vector, row int32) ([]byte, error) {
	for c, needed := range w.Needed {
		if needed {
			b = values.Append(b, columns[c], row, false)
		}
		if len(b) > FoldBytes {
			return nil, errWide
		}
	}
	return b, nil
}
