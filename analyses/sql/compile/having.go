package compile

import (
	"errors"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/rows/fold"
)

// Aggregators drop groups that HAVING excludes, or WHERE of a query around the groups, so these groups do not travel to the reducer. An
// aggregator has its groups complete, so it computes the same values as the reducer does. The reducer applies the condition again: what an
// aggregator keeps, for whatever reason, changes no answer.

// having is a condition on the groups of a leaf.
type having struct {
	leaf *leaf
	plan *plan.Filter // the condition above a passedLeaf
}

// conditions returns the conditions that aggregators apply.
func (s *statement) conditions() (all []having) {
	seen := map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] || s.byNode[n] != nil {
			return
		}
		seen[n] = true
		if f, is := n.(*plan.Filter); is {
			in, cond := s.belowProjections(f.Input, surely(f.Cond))
			if l := s.byNode[in]; l != nil && cond != nil && s.Uses()[in] == 1 && l.prunable() {
				all = append(all, having{l, &plan.Filter{Input: &passedLeaf{leaf: l, out: in.Fields()}, Cond: cond}})
			}
		}
		for _, in := range append(plan.Inputs(n), queries(plan.Exprs(n))...) {
			visit(in)
		}
	}
	for i := range s.roots {
		visit(s.roots[i].plan)
	}
	return all
}

// belowProjections returns the node below the projections on top of n, and the condition as it reads there. A projection that may fail, or
// that other nodes read, stops it: for each group that is dropped, nothing of the projection is computed.
func (s *statement) belowProjections(n plan.Node, cond plan.Expr) (plan.Node, plan.Expr) {
	for cond != nil && s.byNode[n] == nil && s.Uses()[n] == 1 {
		p, is := n.(*plan.Project)
		if !is || slices.ContainsFunc(p.Exprs, func(e plan.Expr) bool { return plan.MayFail(e) || containsSubquery(e) }) {
			break
		}
		n, cond = p.Input, plan.Substitute(cond, p.Columns())
	}
	return n, cond
}

// prunable reports whether an aggregator has the groups of a leaf complete, in one table. Groups of a region may be in several aggregators,
// and those that wait for a join are not the groups of the statement. A group without keys is in the answer even if it has no row.
func (l *leaf) prunable() bool {
	return l.keep == keepGroups && l.region == nil && l.parts == nil && !l.groups.apart() && len(l.groups.node.Keys) > 0
}

// surely returns the part of a condition that may be computed before the rest: neither it nor what comes before it in the statement may
// fail. nil: there is no such part, or the condition asks a query, which would not be asked if no group were left for it.
func surely(cond plan.Expr) (all plan.Expr) {
	if containsSubquery(cond) {
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
			if h.leaf.scan.stream == stream {
				h.prune(tables[h.leaf.table])
			}
		}
		return nil
	}
}

// errKeepsMost ends prune early.
var errKeepsMost = errors.New("most groups stay")

// sampledGroups is after how many groups prune decides whether it is worth while.
const sampledGroups = 4 * atOnce

// prune drops the groups that the condition excludes. If a value of any group cannot be computed, like a sum that is too large for its
// type, all groups stay: the reducer meets that group, too, and reports it. All stay as well if they are most, because Retain copies them.
func (h *having) prune(t *fold.Table) {
	keep, kept := make([]uint64, (t.Len()+63)/64), 0
	src := &orderedGroups{leaf: h.leaf, t: t}
	err := tail.New(src, TailBytes, h.plan).Each(h.plan, func(_ *tail.Rows, sel []int32) error {
		if src.from >= sampledGroups && kept > src.from/2 {
			return errKeepsMost
		}
		for _, i := range sel {
			row := src.from + int(i)
			keep[row/64] |= 1 << (row % 64)
		}
		kept += len(sel)
		return nil
	})
	if err != nil || kept > t.Len()/2 {
		return
	}
	t.Retain(func(row int) bool { return keep[row/64]>>(row%64)&1 != 0 })
}

// orderedGroups gives package tail all groups of a table, in the order of their row numbers.
type orderedGroups struct {
	leaf *leaf
	t    *fold.Table
	from int // row number of the first group that was given last
}

func (g *orderedGroups) Has(n plan.Node) bool {
	_, is := n.(*passedLeaf)
	return is
}

func (g *orderedGroups) Read(_ plan.Node, yield func(*tail.Rows) error) error {
	rows := make([]int, 0, atOnce)
	for ; g.from < g.t.Len(); g.from += len(rows) {
		rows = rows[:0]
		for row := g.from; row < min(g.from+atOnce, g.t.Len()); row++ {
			rows = append(rows, row)
		}
		if err := g.leaf.groups.some(g.t, nil, rows, yield); err != nil {
			return err
		}
	}
	return nil
}
