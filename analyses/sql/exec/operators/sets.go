package operators

import (
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
	seen := x.newIndex()
	defer seen.release()
	return x.stream(n.Input, func(b *Batch) error {
		if len(on) == 0 {
			columns := canonical(b.Columns)
			sel, err := seen.fresh(columns, b.Sel)
			if err != nil {
				return err
			}
			return handOn(b, columns, sel, nil, to)
		}
		keys, failed := evalAll(on, b)
		if keys == nil {
			return failed
		}
		sel, err := seen.fresh(keys, b.Sel)
		if err != nil {
			return err
		}
		return handOn(b, b.Columns, sel, failed, to)
	})
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
	if n.Kind == syntax.Union {
		return x.union(n, to)
	}
	right := x.newIndex()
	defer right.release()
	var left []int64 // by key, how many rows of the right side are left
	err := x.stream(n.R, func(b *Batch) error {
		for _, i := range b.Sel {
			right.row(b.Columns, i)
			id, fresh, err := right.id()
			if err != nil {
				return err
			}
			if fresh {
				left = append(left, 0)
				if err := right.hold(8); err != nil {
					return err
				}
			}
			left[id]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	seen := x.newIndex()
	defer seen.release()
	return x.stream(n.L, func(b *Batch) error {
		columns, sel := b.Columns, b.Sel
		if !n.All {
			columns = canonical(columns)
			if sel, err = seen.fresh(columns, sel); err != nil {
				return err
			}
		}
		var out []int32
		for _, i := range sel {
			right.row(columns, i)
			id, found := right.ids[string(right.key)]
			found = found && left[id] > 0
			if found && n.All {
				left[id]--
			}
			if found == (n.Kind == syntax.Intersect) {
				out = append(out, i)
			}
		}
		return handOn(b, columns, out, nil, to)
	})
}

func (x *Executor) union(n *plan.SetOp, to sink) error {
	seen := x.newIndex()
	defer seen.release()
	part := func(b *Batch) error {
		columns, sel := b.Columns, b.Sel
		if !n.All {
			columns = canonical(columns)
			var err error
			if sel, err = seen.fresh(columns, sel); err != nil {
				return err
			}
		}
		return handOn(b, columns, sel, nil, to)
	}
	if err := x.stream(n.L, part); err != nil {
		return err
	}
	return x.stream(n.R, part)
}
