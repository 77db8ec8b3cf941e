package split

import (
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/rows/fold"
)

// Groups that cannot be in the answer are not computed further: those that HAVING excludes, or WHERE of a query around the groups, and
// those behind the first ones of an ORDER BY with a LIMIT, or of a LIMIT alone. An aggregator has its groups complete, so it computes the
// same values as the reducer does, and keeps its own first ones. The reducer applies conditions, order and limit again: what an aggregator
// keeps, for whatever reason, changes no answer.

// cut finds out which groups of the leaves are needed.
func (s *statement) cut() {
	seen := map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] || s.ByNode[n] != nil {
			return
		}
		seen[n] = true
		switch n.(type) {
		case *plan.Filter, *plan.Limit:
			if c := s.cutBelow(n); c != nil && c.Leaf.Cut == nil {
				c.Leaf.Cut = c
			}
		}
		for _, in := range append(plan.Inputs(n), exec.Queries(plan.Exprs(n))...) {
			visit(in)
		}
	}
	for i := range s.roots {
		visit(s.roots[i].Plan)
	}
	for _, l := range s.Leaves {
		if l.Cut == nil && complete(l) && l.Groups.Apart() {
			l.Cut = &exec.Cut{Leaf: l}
		}
	}
}

// cutBelow returns what a Limit or a Filter leaves of the groups of a leaf below it; nil if there is no such leaf, or if that cannot be
// said of each group by itself. Other filters, orders and projections may be in between. A projection that may fail, or a node that others
// read, stops it: of a group that is dropped, nothing is computed.
func (s *statement) cutBelow(top plan.Node) *exec.Cut {
	c, n := &exec.Cut{}, top
	for ; s.ByNode[n] == nil; n = plan.Inputs(n)[0] {
		if n != top && s.Uses()[n] > 1 {
			return nil
		}
		switch x := n.(type) {
		case *plan.Limit:
			if n != top || x.Count <= 0 || x.Count+x.Offset <= 0 {
				return nil
			}
			c.N = int(x.Count + x.Offset)
		case *plan.Filter:
			sure, whole := surely(x.Cond)
			if sure == nil || !whole && n != top {
				return nil
			}
			if c.Cond != nil {
				sure = plan.And(sure, c.Cond)
			}
			c.Cond = sure
		case *plan.Sort:
			if !plainOrders(x.Keys) || c.Cond != nil && slices.ContainsFunc(x.Keys, func(o plan.Order) bool { return plan.MayFail(o.X) }) {
				return nil
			}
			c.Orders = append(c.Orders, x.Keys...)
		case *plan.Project:
			if slices.ContainsFunc(x.Exprs, func(e plan.Expr) bool { return plan.MayFail(e) || exec.ContainsSubquery(e) }) {
				return nil
			}
			columns := x.Columns()
			if c.Cond != nil {
				c.Cond = plan.Substitute(c.Cond, columns)
			}
			for i := range c.Orders {
				c.Orders[i].X = plan.Substitute(c.Orders[i].X, columns)
			}
		default:
			return nil
		}
	}
	if c.Leaf = s.ByNode[n]; s.Uses()[n] > 1 || c.Leaf.Keep != exec.KeepGroups || len(c.Leaf.Groups.Node.Keys) == 0 {
		return nil
	}
	if c.N == 0 {
		c.Orders = nil
	}
	return c
}

// complete reports whether an aggregator has the groups of a leaf complete. Groups of a region may be in several aggregators, and those
// that wait for a join are not the groups of the statement.
func complete(l *exec.Leaf) bool {
	return l.Keep == exec.KeepGroups && l.Region == nil && l.Parts == nil
}

// surely returns the part of a condition that may be computed before the rest, and whether it is the whole of it: neither it nor what comes
// before it in the statement may fail. nil: there is no such part, or the condition asks a query, which would not be asked if no group were
// left for it.
func surely(cond plan.Expr) (sure plan.Expr, whole bool) {
	if exec.ContainsSubquery(cond) {
		return nil, false
	}
	for _, part := range plan.Conjuncts(cond) {
		if plan.MayFail(part) {
			return sure, false
		}
		sure = plan.And(sure, part)
	}
	return sure, true
}

// pruneGroups makes the function that drops groups in aggregators (analyses.Analysis.Prune); nil if there is nothing for it to do.
func (s *statement) pruneGroups() func(analyses.Args, int, []*fold.Table) error {
	var cuts []*exec.Cut
	for _, l := range s.Leaves {
		if l.Cut != nil && complete(l) {
			cuts = append(cuts, l.Cut)
		}
	}
	if len(cuts) == 0 {
		return nil
	}
	return func(_ analyses.Args, stream int, tables []*fold.Table) error {
		for _, c := range cuts {
			if l := c.Leaf; l.Scan.Stream == stream {
				if err := c.Prune(tables[l.Table : l.Table+l.Tables]); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
