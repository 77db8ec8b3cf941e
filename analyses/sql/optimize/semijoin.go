package optimize

import (
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
)

// SemiJoin makes a join of a filter by IN with a query over tables, so that the join can be computed where rows with equal keys meet; nil
// if the filter is not one. Package split asks for it where aggregators join: elsewhere the query is answered first, in a pass or by each
// joiner.
//
//	filter x IN (query) and c        filter c
//	  in                  becomes      join semi on x = y
//	                                     in
//	                                     query (y)
func SemiJoin(f *plan.Filter) plan.Node {
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
		j := plan.NewJoin(syntax.Semi, n, q.Plan)
		j.Equal = [][2]plan.Expr{{q.X, q.Plan.Fields()[0].Ref(q.At)}}
		n = j
	}
	if !some {
		return nil
	}
	return n
}
