package compile

import (
	"errors"
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// Where aggregators join a large table with others and then group by the key of the join, the rows of that table are grouped by the
// key before they travel, if the aggregates read nothing else of it: of the items of an order, only their number and their sums
// travel. The final aggregates then add up these sums, once for each partner that the key has. This is the eager group-by of Yan and
// Larson ("Eager aggregation and lazy aggregation", VLDB 1995), for aggregates of one side.
//
// It is not done for aggregates of DOUBLEs, whose exact sums would be rounded in between, nor for arguments that may fail: they would
// fail for rows without a partner, too. Nor is it done for the smaller side of a join, since its keys are rarely repeated.

// eager is a search for the side of a join whose rows can be grouped early.
type eager struct {
	*statement
	r    *region
	aggs []*plan.Aggregate
}

// eagerly returns groups with the same rows as n whose input has been grouped early by keys, which are over the columns of its
// input; nil if that is not possible.
func (s *statement) eagerly(r *region, n *plan.Aggregation, keys []plan.Expr) *plan.Aggregation {
	args := make([]plan.Expr, len(n.Aggs))
	for i, a := range n.Aggs {
		if !splits(a) {
			return nil
		}
		if len(a.Args) > 0 {
			args[i] = a.Args[0]
		}
	}
	used := make([]bool, len(n.Input.Fields()))
	plan.Mark(used, n.Keys...)
	e := &eager{s, r, n.Aggs}
	in, at := e.below(n.Input, keys, args, used)
	if in == nil {
		return nil
	}
	to := &plan.Aggregation{Input: in, Keys: n.Keys, Sets: n.Sets}
	for i, a := range n.Aggs {
		f := a.Func
		if f == "count" {
			f = "sum"
		}
		part := plan.Typed(&plan.Column{Index: at[i]}, in.Fields()[at[i]].Type, a.At)
		to.Aggs = append(to.Aggs, plan.Typed(&plan.Aggregate{Func: f, Args: []plan.Expr{part}}, a.T, a.At))
	}
	return plan.Giving(to, n.Fields())
}

// splits reports whether an aggregate of rows is an aggregate of the same kind of aggregates of some of these rows.
func splits(a *plan.Aggregate) bool {
	if a.Distinct || a.Filter != nil || len(a.Order) > 0 || len(a.Args) > 1 {
		return false
	}
	if len(a.Args) == 1 && plan.MayFail(a.Args[0]) {
		return false
	}
	switch a.Func {
	case "count":
		return true
	case "sum":
		return isInteger(a.Args[0].Type().Kind)
	case "min", "max":
		return ordered(a.Args[0].Type().Kind) && a.Args[0].Type().Kind != types.Double
	}
	return false
}

// below returns a node like n in which the rows of one table have been grouped by keys, and which of its columns have the aggregates
// of these groups; nil if that is not possible. used are the columns of n that are read by anything but the arguments of the
// aggregates.
func (e *eager) below(n plan.Node, keys, args []plan.Expr, used []bool) (plan.Node, []int) {
	if e.uses[n] > 1 {
		return nil, nil
	}
	switch x := n.(type) {
	case *plan.Filter:
		if m := semiJoined(x); m != nil {
			return e.below(m, keys, args, used)
		}
		if e.chain(x) != nil {
			return e.grouped(n, keys, args, used)
		}
		plan.Mark(used, x.Cond)
		in, at := e.below(x.Input, keys, args, used)
		if in == nil {
			return nil, nil
		}
		return &plan.Filter{Input: in, Cond: x.Cond}, at
	case *plan.Join:
		if e.chain(x) != nil {
			return e.grouped(n, keys, args, used)
		}
		return e.side(x, keys, args, used)
	}
	if e.chain(n) != nil {
		return e.grouped(n, keys, args, used)
	}
	return nil, nil
}

// side groups that side of a join which all arguments read. Its keys must be equal to those of the join.
func (e *eager) side(n *plan.Join, keys, args []plan.Expr, used []bool) (plan.Node, []int) {
	width := len(n.L.Fields())
	right := slices.ContainsFunc(args, func(a plan.Expr) bool { return a != nil && readsWithin(a, width, width+len(n.R.Fields())) })
	switch n.Kind {
	case syntax.Inner:
	case syntax.Left, syntax.Semi, syntax.Anti:
		if right {
			return nil, nil
		}
	case syntax.Right:
		if !right {
			return nil, nil
		}
	default:
		return nil, nil
	}
	own, other, shift, from := n.L, n.R, 0, 0
	if right {
		own, other, shift, from = n.R, n.L, width, 1
	}
	if a, b := e.bytes(own), e.bytes(other); a > 0 && b > 0 && a <= b {
		return nil, nil
	}
	all := slices.Clone(used)
	if n.Kind == syntax.Semi || n.Kind == syntax.Anti {
		all = append(all, make([]bool, len(n.R.Fields()))...)
	}
	if n.Rest != nil {
		plan.Mark(all, n.Rest)
	}
	to := make([]bool, len(own.Fields()))
	copy(to, all[shift:])
	list := make([]plan.Expr, len(keys))
	for i, k := range keys {
		at := slices.IndexFunc(n.Equal, func(p [2]plan.Expr) bool {
			return p[0].Type() == p[1].Type() && (sameExpr(p[0], k) || sameExpr(shifted(p[1], width), k))
		})
		if at < 0 {
			return nil, nil
		}
		list[i] = n.Equal[at][from]
	}
	for _, p := range n.Equal {
		plan.Mark(to, p[from])
	}
	moved := make([]plan.Expr, len(args))
	for i, a := range args {
		if a == nil {
			continue
		}
		if !readsWithin(a, shift, shift+len(own.Fields())) {
			return nil, nil
		}
		moved[i] = shifted(a, -shift)
	}
	in, at := e.below(own, list, moved, to)
	if in == nil {
		return nil, nil
	}
	j := &plan.Join{Kind: n.Kind, L: in, R: n.R, Equal: n.Equal, Rest: n.Rest}
	if right {
		j.L, j.R = n.L, in
		for i := range at {
			at[i] += width
		}
	}
	out := slices.Clone(j.L.Fields())
	if n.Kind != syntax.Semi && n.Kind != syntax.Anti {
		out = append(out, j.R.Fields()...)
	}
	return plan.Giving(j, out), at
}

// grouped groups the rows of a leaf by keys. The columns of the new node are at the indexes that they have in n: those of the keys
// as they were, the aggregates in the place of columns that nothing reads any more.
func (e *eager) grouped(n plan.Node, keys, args []plan.Expr, used []bool) (plan.Node, []int) {
	fields := slices.Clone(n.Fields())
	exprs := make([]plan.Expr, len(fields))
	sets := make([]int, len(keys))
	g := &plan.Aggregation{Input: n, Keys: keys, Sets: [][]int{sets}}
	var out []plan.Field
	for i, k := range keys {
		c, ok := k.(*plan.Column)
		if !ok || exprs[c.Index] != nil || !ordered(c.T.Kind) || c.T.Kind == types.Double {
			return nil, nil
		}
		sets[i] = i
		out = append(out, fields[c.Index])
		exprs[c.Index] = plan.Typed(&plan.Column{Index: i, Name: c.Name}, c.T, c.At)
	}
	free := []int{}
	for i, u := range used {
		switch {
		case exprs[i] == nil && u:
			return nil, nil
		case exprs[i] == nil:
			free = append(free, i)
		}
	}
	some := slices.ContainsFunc(args, func(a plan.Expr) bool { return a != nil })
	if !some || len(free) < len(args) || len(keys) == 0 {
		return nil, nil
	}
	var at []int
	for i, a := range e.aggs {
		part := plan.Typed(&plan.Aggregate{Func: a.Func}, a.T, a.At)
		if args[i] != nil {
			part.Args = []plan.Expr{args[i]}
		}
		g.Aggs = append(g.Aggs, part)
		at = append(at, free[i])
		exprs[free[i]] = plan.Typed(&plan.Column{Index: len(keys) + i}, a.T, a.At)
		fields[free[i]].Type = a.T
		out = append(out, plan.Field{Name: a.Func, Type: a.T})
	}
	for i := range exprs {
		if exprs[i] == nil { // nothing reads it
			exprs[i], fields[i].Type = plan.Typed(&plan.Column{}, out[0].Type, e.aggs[0].At), out[0].Type
		}
	}
	plan.Giving(g, out)
	if e.sourceOf(g, keyColumns(g)) == nil {
		return nil, nil
	}
	e.r.early[g] = true
	return plan.Giving(&plan.Project{Input: g, Exprs: exprs}, fields), at
}

// early yields groups that were grouped early, in the table's order. A sum that does not fit its type is an error only if its key has a
// partner: then the final sum must not fit either. It is a multiple of this one, since all rows of a final group have the same key. So
// the greatest sum is yielded twice: the second time in a row with the same keys, whose other aggregates are those of no rows.
func (g *groups) early(t *fold.Table, yield func(*tail.Rows) error) error {
	keys := len(g.node.Keys)
	flush := func(r **tail.Rows, most int) error {
		if (*r).N < most {
			return nil
		}
		t.Pause()
		full := *r
		*r = g.batch(0)
		return yield(full)
	}
	rows, again := g.batch(0), g.batch(0)
	for row := range t.Len() {
		if err := g.key(t, row, rows, rows.N); err != nil {
			return err
		}
		for a := range g.aggs {
			x, v := &g.aggs[a], rows.Columns[keys+a]
			if x.kind != sumInts || t.Sum(row, x.cell+2) == 0 {
				if err := x.value(t, row, v, rows.N); err != nil {
					return err
				}
				continue
			}
			sum, fits := x.shortSum(t, row)
			if !fits {
				long := x.longSum(t, row)
				if sum = long.Int64(); !long.IsInt64() {
					sum = math.MaxInt64 * int64(long.Sign())
					if err := errors.Join(g.again(t, row, a, sum, again), flush(&again, atOnce)); err != nil {
						return err
					}
				}
			}
			v.Ints = append(v.Ints, sum)
			v.Nulls = longer(v.Nulls, rows.N/64+1)
		}
		rows.N++
		if err := flush(&rows, atOnce); err != nil {
			return err
		}
	}
	return errors.Join(flush(&rows, 1), flush(&again, 1))
}

// again appends a row with the keys of a group and one of its sums, in which all other aggregates are those of no rows.
func (g *groups) again(t *fold.Table, row, agg int, sum int64, r *tail.Rows) error {
	if err := g.key(t, row, r, r.N); err != nil {
		return err
	}
	for a := range g.aggs {
		v := r.Columns[len(g.node.Keys)+a]
		v.Nulls = longer(v.Nulls, r.N/64+1)
		switch {
		case a == agg:
			v.Ints = append(v.Ints, sum)
		case g.aggs[a].kind == countRows || g.aggs[a].kind == countValues:
			v.Ints = append(v.Ints, 0)
		default:
			v.Nulls[r.N>>6] |= 1 << (r.N & 63)
			v.Any = true
			appendZero(v)
		}
	}
	r.N++
	return nil
}
