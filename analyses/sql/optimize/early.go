package optimize

import (
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// Where aggregators join a large table with others and then group by the key of the join, the rows of that table are grouped by the
// key before they travel, if the aggregates read nothing else of it: of the items of an order, only their number and their sums
// travel. The final aggregates then add up these sums, once for each partner that the key has. This is the eager group-by of Yan and
// Larson ("Eager aggregation and lazy aggregation", VLDB 1995), for aggregates of one side.
//
// It is not done for aggregates of DOUBLEs, whose exact sums would be rounded in between, nor for arguments that may fail: they would
// fail for rows without a partner, too. Nor is it done for the smaller side of a join, since its keys are rarely repeated.

// Early groups rows before they are joined. Reads reports whether a node reads one large table where its rows are, and Groups whether
// groups can be made there.
//
//	group by k: sum(x)              group by k: sum(s)
//	  join on k = j       becomes     join on k = j
//	    l (j)                           l (j)
//	    r (k, x)                        group by k: sum(x) AS s
//	                                      r (k, x)
type Early struct {
	*sizes.Sizes
	IDs    *plan.IDs
	Reads  func(plan.Node) bool
	Groups func(*plan.Aggregation) bool
}

// eager is a search for the side of a join whose rows can be grouped early.
type eager struct {
	*Early
	aggs []*plan.Aggregate
	made *plan.Aggregation // the early groups
}

// Group returns groups with the same rows as n whose input has been grouped early by keys, which are over the columns of its
// input, and the early groups; nil if that is not possible.
func (s *Early) Group(n *plan.Aggregation, keys []plan.Expr) (to, early *plan.Aggregation) {
	args := make([]plan.Expr, len(n.Aggs))
	for i, a := range n.Aggs {
		if !splits(a) {
			return nil, nil
		}
		if len(a.Args) > 0 {
			args[i] = a.Args[0]
		}
	}
	var used plan.Set
	used.Mark(n.Keys...)
	e := &eager{Early: s, aggs: n.Aggs}
	in, parts := e.below(n.Input, keys, args, used)
	if in == nil {
		return nil, nil
	}
	to = &plan.Aggregation{Input: in, Keys: n.Keys, Sets: n.Sets, Out: n.Out}
	for i, a := range n.Aggs {
		of := &plan.Aggregate{Func: aggregate.Find(a.Func).Parts, Args: []plan.Expr{parts[i].Ref(a.At)}}
		to.Aggs = append(to.Aggs, plan.Typed(of, a.T, a.At))
	}
	return to, e.made
}

// splits reports whether an aggregate of rows is an aggregate of the same kind of aggregates of some of these rows.
func splits(a *plan.Aggregate) bool {
	if a.Distinct || a.Filter != nil || len(a.Order) > 0 || len(a.Args) > 1 {
		return false
	}
	if len(a.Args) == 1 && plan.MayFail(a.Args[0]) {
		return false
	}
	of := aggregate.Find(a.Func)
	switch {
	case of == nil || of.Parts == "":
		return false
	case of.Zero: // a count is one of values of any type
		return true
	}
	kind := a.Args[0].Type().Kind // DOUBLEs are rounded, and one of equal ones is chosen
	return values.Ordered(kind) && kind != types.Double
}

// below returns a node like n in which the rows of one table have been grouped by keys, and the columns that have the aggregates of these
// groups; nil if that is not possible. used are the columns that are read by anything but the arguments of the aggregates.
func (e *eager) below(n plan.Node, keys, args []plan.Expr, used plan.Set) (plan.Node, []plan.Field) {
	if e.Uses()[n] > 1 {
		return nil, nil
	}
	switch x := n.(type) {
	case *plan.Filter:
		if m := SemiJoin(x, func(n plan.Node) bool { return e.Uses()[n] > 1 || e.Reads(n) }); m != nil {
			return e.below(m, keys, args, used)
		}
		if e.Reads(x) {
			return e.grouped(n, keys, args, used)
		}
		used.Mark(x.Cond)
		in, parts := e.below(x.Input, keys, args, used)
		if in == nil {
			return nil, nil
		}
		return &plan.Filter{Input: in, Cond: x.Cond}, parts
	case *plan.Join:
		if e.Reads(x) { // the groups of one of its tables may be fewer, if the whole join has columns that are no keys
			if in, parts := e.grouped(n, keys, args, used); in != nil {
				return in, parts
			}
		}
		return e.side(x, keys, args, used)
	}
	if e.Reads(n) {
		return e.grouped(n, keys, args, used)
	}
	return nil, nil
}

// side groups that side of a join which all arguments read. Its keys must be equal to those of the join.
func (e *eager) side(n *plan.Join, keys, args []plan.Expr, used plan.Set) (plan.Node, []plan.Field) {
	right := slices.ContainsFunc(args, func(a plan.Expr) bool { return a != nil && n.Side(a) == plan.Right })
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
	own, other, from, wanted := n.L, n.R, 0, plan.Left
	if right {
		own, other, from, wanted = n.R, n.L, 1, plan.Right
	}
	if a, b := e.Below(own), e.Below(other); a > 0 && b > 0 && a <= b {
		return nil, nil
	}
	list := make([]plan.Expr, len(keys))
	for i, k := range keys {
		at := slices.IndexFunc(n.Equal, func(p [2]plan.Expr) bool {
			return p[0].Type() == p[1].Type() && (plan.SameColumn(p[0], k) || plan.SameColumn(p[1], k))
		})
		if at < 0 {
			return nil, nil
		}
		list[i] = n.Equal[at][from]
	}
	if slices.ContainsFunc(args, func(a plan.Expr) bool { return a != nil && n.Side(a) != wanted }) {
		return nil, nil
	}
	used.Mark(plan.Exprs(n)...)
	in, parts := e.below(own, list, args, used)
	if in == nil {
		return nil, nil
	}
	if right {
		return n.With(n.L, in), parts
	}
	return n.With(in, n.R), parts
}

// grouped groups the rows of a leaf by keys. The columns of the new node are the keys, as they were, and the aggregates.
func (e *eager) grouped(n plan.Node, keys, args []plan.Expr, used plan.Set) (plan.Node, []plan.Field) {
	g := &plan.Aggregation{Input: n, Keys: keys, Sets: [][]int{make([]int, len(keys))}}
	var kept plan.Set
	for i, k := range keys {
		c, ok := k.(*plan.Column)
		if !ok || kept.Has(c.ID) || !values.Ordered(c.T.Kind) || c.T.Kind == types.Double {
			return nil, nil
		}
		kept.Add(c.ID)
		g.Sets[0][i] = i
		g.Out = append(g.Out, plan.Field{ID: c.ID, Name: c.Name, Type: c.T})
	}
	for _, f := range n.Fields() {
		if used.Has(f.ID) && !kept.Has(f.ID) {
			return nil, nil
		}
	}
	some := slices.ContainsFunc(args, func(a plan.Expr) bool { return a != nil })
	if !some || len(keys) == 0 {
		return nil, nil
	}
	for i, a := range e.aggs {
		part := plan.Typed(&plan.Aggregate{Func: a.Func}, a.T, a.At)
		if args[i] != nil {
			part.Args = []plan.Expr{args[i]}
		}
		g.Aggs, g.Out = append(g.Aggs, part), append(g.Out, e.IDs.Field(a.Func, a.T))
	}
	if !e.Groups(g) {
		return nil, nil
	}
	e.made = g
	return g, g.Out[len(keys):]
}
