package split

import (
	"slices"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/fold"
)

// Aggregators drop groups that HAVING excludes, or WHERE of a query around the groups, so these groups do not travel to the reducer. An
// aggregator has its groups complete, so it computes the same values as the reducer does. The reducer applies the condition again: what an
// aggregator keeps, for whatever reason, changes no answer.

// conditions returns the conditions that aggregators apply.
func (s *statement) conditions() (all []exec.Having) {
	seen := map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] || s.ByNode[n] != nil {
			return
		}
		seen[n] = true
		if f, is := n.(*plan.Filter); is {
			in, cond := s.belowProjections(f.Input, surely(f.Cond))
			if l := s.ByNode[in]; l != nil && cond != nil && s.Uses()[in] == 1 && prunable(l) {
				all = append(all, exec.Having{Leaf: l, Plan: &plan.Filter{Input: &exec.PassedLeaf{Leaf: l, Out: in.Fields()}, Cond: cond}})
			}
		}
		for _, in := range append(plan.Inputs(n), exec.Queries(plan.Exprs(n))...) {
			visit(in)
		}
	}
	for i := range s.roots {
		visit(s.roots[i].Plan)
	}
	return all
}

// belowProjections returns the node below the projections on top of n, and the condition as it reads there. A projection that may fail, or
// that other nodes read, stops it: for each group that is dropped, nothing of the projection is computed.
func (s *statement) belowProjections(n plan.Node, cond plan.Expr) (plan.Node, plan.Expr) {
	for cond != nil && s.ByNode[n] == nil && s.Uses()[n] == 1 {
		p, is := n.(*plan.Project)
		if !is || slices.ContainsFunc(p.Exprs, func(e plan.Expr) bool { return plan.MayFail(e) || exec.ContainsSubquery(e) }) {
			break
		}
		n, cond = p.Input, plan.Substitute(cond, p.Columns())
	}
	return n, cond
}

// prunable reports whether an aggregator has the groups of a leaf complete, in one table. Groups of a region may be in several aggregators,
// and those that wait for a join are not the groups of the statement. A group without keys is in the answer even if it has no row.
func prunable(l *exec.Leaf) bool {
	return l.Keep == exec.KeepGroups && l.Region == nil && l.Parts == nil && !l.Groups.Apart() && len(l.Groups.Node.Keys) > 0
}

// surely returns the part of a condition that may be computed before the rest: neither it nor what comes before it in the statement may
// fail. nil: there is no such part, or the condition asks a query, which would not be asked if no group were left for it.
func surely(cond plan.Expr) (all plan.Expr) {
	if exec.ContainsSubquery(cond) {
		return nil
	}
	for _, part := range plan.Conjuncts(cond) {
		if plan.MayFail(part) {
			break
		}
		all = plan.And(all, part)
	}
	return all
}

// pruneGroups makes the function that drops groups in aggregators (analyses.Analysis.Prune); nil if no condition excludes any.
func (s *statement) pruneGroups() func(analyses.Args, int, []*fold.Table) error {
	all := s.conditions()
	if len(all) == 0 {
		return nil
	}
	return func(_ analyses.Args, stream int, tables []*fold.Table) error {
		for _, h := range all {
			if h.Leaf.Scan.Stream == stream {
				h.Prune(tables[h.Leaf.Table])
			}
		}
		return nil
	}
}
