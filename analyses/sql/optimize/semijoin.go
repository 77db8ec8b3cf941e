package optimize

import (
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
)

// SemiJoin makes a join of a filter by IN with a query over tables, so that the join can be computed where rows with equal keys meet; nil
// if the filter is not one. Package split asks for it where aggregators join: elsewhere the query is answered first, in a pass or by each
// joiner. Below a join, the semi-join drops rows before they are kept and joined. It goes as far down as whole lets it: what is whole stays
// in one piece.
//
//	filter x IN (query) and c        filter c
//	  join                  becomes    join
//	    l (x)                            join semi on x = y
//	    r                                  l (x)
//	                                       query (y)
//	                                     r
func SemiJoin(f *plan.Filter, whole func(plan.Node) bool) plan.Node {
	var parts []plan.Expr
	var split func(e plan.Expr)
	split = func(e plan.Expr) {
		if a, ok := e.(*plan.Apply); ok && a.Func == "AND" {
			for _, x := range a.Args {
				split(x)
			}
			return
		}
		parts = append(parts, e)
	}
	split(f.Cond)
	n, some := f.Input, false
	for _, e := range parts {
		q, ok := e.(*plan.Subquery)
		if !ok || !q.In || !plan.Pushable(q.X) || !plan.ReadsTables(q.Plan) || q.X.Type() != q.Plan.Fields()[0].Type {
			n = &plan.Filter{Input: n, Cond: e}
			continue
		}
		some = true
		n = semiBelow(n, q, whole)
	}
	if !some {
		return nil
	}
	return n
}

// semiBelow returns the rows of a node whose value is in a query.
func semiBelow(n plan.Node, q *plan.Subquery, whole func(plan.Node) bool) plan.Node {
	if in, is := n.(*plan.Join); is && in.Kind == syntax.Inner && !whole(n) && (in.Rest == nil || !plan.MayFail(in.Rest)) {
		switch in.Side(q.X) {
		case plan.Left:
			return in.With(semiBelow(in.L, q, whole), in.R)
		case plan.Right:
			return in.With(in.L, semiBelow(in.R, q, whole))
		}
	}
	j := plan.NewJoin(syntax.Semi, n, q.Plan)
	j.Equal = [][2]plan.Expr{{q.X, q.Plan.Fields()[0].Ref(q.At)}}
	return j
}
