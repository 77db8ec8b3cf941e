package exec

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
)

// Unnest is a step of a leaf: it makes one row for each item of the lists in each row. The place of the new row is the place
// of the old row, followed by the index of the item.
type Unnest struct {
	*plan.Unnest
	wanted []bool // columns that later steps read
}

// spread computes an unnest in a joiner.
type spread struct {
	of    *Unnest
	lists []*eval.Program
	meter *eval.Meter
	out   []*eval.Vector
	room  [][]int32
}

// rows unnests the selected rows, and calls to with the new rows. During these calls, at locates the new rows.
func (s *spread) rows(b *operators.Batch, at *joined, to func(b *operators.Batch) error) error {
	lists := make([]*eval.Vector, len(s.lists))
	for i, p := range s.lists {
		v, err := operators.Compute(p, b)
		if err != nil {
			return err
		}
		lists[i] = v
	}
	was := *at
	defer func() { *at = was }()
	return operators.Spread(lists, b.Sel, s.of.Outer, func(rows, items []int32, made []*eval.Vector) error {
		if err := s.meter.Rows(len(rows)); err != nil {
			return err
		}
		*at = was.picked(rows, &s.room)
		at.after = append(at.after, items)
		s.out = s.out[:0]
		for i, c := range b.Columns {
			if !s.of.wanted[i] {
				c = nil
			}
			s.out = append(s.out, values.Gather(c, rows))
		}
		s.out = append(s.out, made...)
		return to(&operators.Batch{Columns: s.out, N: len(rows)})
	})
}
