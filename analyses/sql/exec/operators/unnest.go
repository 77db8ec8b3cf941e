package operators

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

func (x *Executor) unnest(n *plan.Unnest, to sink) error {
	programs, err := x.compileAll(n.Lists, plan.LayoutOf(n.Input.Fields()))
	if err != nil {
		return err
	}
	return x.stream(n.Input, func(b *Batch) error {
		lists, failed := evalAll(programs, b)
		if lists == nil {
			return failed
		}
		err := Spread(lists, b.Sel, n.Outer, func(rows, items []int32, made []*eval.Vector) error {
			out := &Batch{N: len(rows), Sel: x.all(len(rows)), File: values.Gather(b.File, rows), Line: values.Gather(b.Line, rows)}
			for _, c := range b.Columns {
				out.Columns = append(out.Columns, values.Gather(c, rows))
			}
			out.Columns = append(out.Columns, made...)
			return to(out)
		})
		if err != nil {
			return err
		}
		return failed
	})
}

// Spread passes on the items of the lists in the selected rows, some thousand at a time. For each item it passes the index of its row, its
// index in the list, and a value for each list. A list that is shorter than another one of its row is NULL for the missing items. With
// outer, a row without items is passed on once, with NULL.
func Spread(lists []*eval.Vector, sel []int32, outer bool, to func(rows, items []int32, made []*eval.Vector) error) error {
	var rows, items []int32
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		made := make([]*eval.Vector, len(lists))
		for c, l := range lists {
			v := eval.NewVector(types.Text, len(rows))
			for k, r := range rows {
				at := int(items[k])
				if l.IsNull(r) || at >= len(l.Lists[r].Items) || l.Lists[r].Nulls != nil && l.Lists[r].Nulls[at] {
					v.SetNull(int32(k))
					continue
				}
				v.Texts[k] = l.Lists[r].Items[at]
			}
			made[c] = v
		}
		err := to(rows, items, made)
		rows, items = rows[:0], items[:0]
		return err
	}
	for _, r := range sel {
		longest := 0
		for _, l := range lists {
			if !l.IsNull(r) {
				longest = max(longest, len(l.Lists[r].Items))
			}
		}
		if outer {
			longest = max(longest, 1)
		}
		for at := range longest {
			rows, items = append(rows, r), append(items, int32(at))
			if len(rows) == batchRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}
