package split

import (
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/plan"
)

// unordered finds the leaves whose groups may reach the tail in any order, because they are only added up to a single row, by aggregates
// that see no order: the reducer need not sort them. With keys, the order of the groups would be that of their first rows. No expression in
// between may fail: of several errors, the first one in the order of the groups is the statement's.
func (s *statement) unordered() {
	seen := map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] || s.ByNode[n] != nil {
			return
		}
		seen[n] = true
		if a, is := n.(*plan.Aggregation); is && addsUp(a) {
			s.unorderedBelow(a.Input)
		}
		for _, in := range append(plan.Inputs(n), exec.Queries(plan.Exprs(n))...) {
			visit(in)
		}
	}
	for i := range s.roots {
		visit(s.roots[i].Plan)
	}
}

// addsUp reports whether an aggregation gives one row, which does not depend on the order of its input.
func addsUp(a *plan.Aggregation) bool {
	return len(a.Keys) == 0 && !slices.ContainsFunc(a.Aggs, func(g *plan.Aggregate) bool {
		return aggregate.SeesOrder(g) || !neverFail(plan.Children(g))
	})
}

func (s *statement) unorderedBelow(n plan.Node) {
	for s.ByNode[n] == nil {
		switch n.(type) {
		case *plan.Filter, *plan.Project:
		default:
			return
		}
		if s.Uses()[n] > 1 || !neverFail(plan.Exprs(n)) {
			return
		}
		n = plan.Inputs(n)[0]
	}
	if l := s.ByNode[n]; s.Uses()[n] == 1 && l.Keep == exec.KeepGroups {
		l.AnyOrder = true
	}
}

// neverFail reports whether no expression can fail, and none asks a query.
func neverFail(list []plan.Expr) bool {
	return !slices.ContainsFunc(list, func(e plan.Expr) bool { return plan.MayFail(e) || exec.ContainsSubquery(e) })
}
