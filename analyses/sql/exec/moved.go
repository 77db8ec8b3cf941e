package exec

import (
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// A table that takes much memory in the reducer moves to files, in buckets by the hashes of its keys. The tail reads it bucket by bucket,
// and sorts what it reads in files of its own, so that it gets the rows in the order that they have in memory.

// Moves reports whether the tail reads a table from files, too: rows, rows without duplicates, and groups. Groups with DISTINCT values in
// tables of their own are looked up by these values, and best rows are few.
func (s *Fragments) Moves(table int) bool {
	for _, l := range s.Answering() {
		if table != l.Table || l.Parts != nil {
			continue
		}
		switch l.Keep {
		case KeepGroups:
			return len(l.Groups.Node.Keys) > 0 && !l.Groups.Apart()
		case KeepBest, KeepParts:
			return false
		}
		return true
	}
	return false
}

// movedRows is about how many rows of a table are in memory while they are read from files.
const movedRows = 1 << 14

// buckets calls each with the rows of a table in files, some buckets at a time.
func buckets(t *fold.Table, each func(part *fold.Table) error) error {
	read, part := t.Moved(), fold.NewTable(t.Spec())
	part.SetPause(t.Pause)
	for bucket := range fold.Buckets {
		t.Pause()
		if err := read(bucket, part.Merge); err != nil {
			return err
		}
		if part.Len() < movedRows && bucket < fold.Buckets-1 {
			continue
		}
		if err := each(part); err != nil {
			return err
		}
		part.Reset()
	}
	return part.Err()
}

// movedGroups yields the groups of a table in files, by key.
func (src *source) movedGroups(l *Leaf, t *fold.Table, yield func(*operators.Batch) error) error {
	var kinds []types.Kind
	for _, f := range l.Groups.Node.Fields() {
		kinds = append(kinds, f.Type.Kind)
	}
	order := operators.NewOrdering(src.most, t.Scratch(), t.Pause, kinds, len(l.Groups.Node.Keys))
	defer order.Close()
	err := buckets(t, func(part *fold.Table) error { return l.Groups.some(part, nil, part.Rows(), nil, order.Add) })
	if err != nil {
		return err
	}
	return order.Each(yield)
}

// movedTexts yields the rows of a table in files, in the order of two texts of each row. The row itself is the second one.
func (src *source) movedTexts(l *Leaf, t *fold.Table, first, row func(t *fold.Table, row int) []byte,
	yield func(*operators.Batch) error) error {
	order := operators.NewOrdering(src.most, t.Scratch(), t.Pause, []types.Kind{types.Text, types.Text}, 2)
	defer order.Close()
	err := buckets(t, func(part *fold.Table) error {
		for lo := 0; lo < part.Len(); lo += AtOnce {
			n := min(AtOnce, part.Len()-lo)
			b := operators.TextBatch(2, n)
			for i := range n {
				b.Columns[0].Texts[i], b.Columns[1].Texts[i] = string(first(part, lo+i)), string(row(part, lo+i))
			}
			if err := order.Add(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return order.Each(func(b *operators.Batch) error {
		return l.rows(t, b.N, func(i int) ([]byte, error) { return []byte(b.Columns[1].Texts[i]), nil }, yield)
	})
}
