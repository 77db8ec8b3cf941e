package bind

import (
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
)

// where adds WHERE to the tables of FROM, and pushes its parts down. A part over one table becomes a filter below the join. An
// equality of two tables becomes a pair of their join, so that FROM a, b WHERE a.x = b.x does not make the product of all rows.
// A part that can fail stays on top, after the parts that may guard it.
func (b *binder) where(n plan.Node, cond plan.Expr) plan.Node {
	var stay plan.Expr
	var later []plan.Expr // in the order of the text, because a part may guard the next one
	for _, part := range plan.Conjuncts(cond) {
		below, ok := b.sink(n, part)
		switch {
		case ok:
			n = below
		case plan.Find(part, plan.AsksQuery, nil) == nil && (len(later) == 0 || !plan.MayFail(part)):
			stay = plan.And(stay, part)
		default:
			later = append(later, part)
		}
	}
	if stay != nil {
		n = &plan.Filter{Input: n, Cond: stay}
	}
	for _, part := range later {
		n = b.attachWhere(n, part)
	}
	return n
}

// sink moves a condition over a join's columns below the join or into it. It returns false if the condition must stay above.
func (b *binder) sink(n plan.Node, part plan.Expr) (plan.Node, bool) {
	if u, ok := n.(*plan.Unnest); ok {
		if plan.MayFail(part) || plan.Find(part, plan.AsksQuery, nil) != nil || !readsOnly(part, u.Input) {
			return n, false
		}
		u.Input = b.filtered(u.Input, part)
		return n, true
	}
	j, ok := n.(*plan.Join)
	if !ok || plan.Find(part, plan.AsksQuery, nil) != nil {
		return n, false
	}
	inner := j.Kind == syntax.Inner || j.Kind == syntax.Cross
	which := side(j, part)
	equality, isEquality := part.(*plan.Apply)
	isEquality = isEquality && equality.Func == "="
	switch {
	case which != plan.Both && plan.MayFail(part):
		return n, false
	case which == plan.Left && (inner || j.Kind == syntax.Left || j.Kind == syntax.Semi || j.Kind == syntax.Anti):
		j.L = b.filtered(j.L, part)
	case which == plan.Right && (inner || j.Kind == syntax.Right):
		j.R = b.filtered(j.R, part)
	case inner && isEquality && side(j, equality.Args[0]) == plan.Left && side(j, equality.Args[1]) == plan.Right:
		b.pair(j, equality.Args[0], equality.Args[1])
		j.Kind = syntax.Inner
	case inner && isEquality && side(j, equality.Args[0]) == plan.Right && side(j, equality.Args[1]) == plan.Left:
		b.pair(j, equality.Args[1], equality.Args[0])
		j.Kind = syntax.Inner
	case inner && which == plan.Both && !plan.MayFail(part):
		j.Rest = plan.And(j.Rest, part)
		j.Kind = syntax.Inner
	default:
		return n, false
	}
	return n, true
}

// filtered adds a condition to a side of a join. If the side is a Filter, filtered itself has made it, because FROM never
// yields a bare Filter: a query in FROM has a Project on top.
func (b *binder) filtered(n plan.Node, part plan.Expr) plan.Node {
	if below, ok := b.sink(n, part); ok {
		return below
	}
	if f, ok := n.(*plan.Filter); ok {
		return &plan.Filter{Input: f.Input, Cond: plan.And(f.Cond, part)}
	}
	return &plan.Filter{Input: n, Cond: part}
}

// readsOnly reports whether an expression reads columns, all of them of n.
func readsOnly(e plan.Expr, n plan.Node) bool {
	of, all := plan.SetOf(n.Fields()), true
	plan.Walk(func(e plan.Expr) {
		if c, is := e.(*plan.Column); is {
			all = all && of.Has(c.ID)
		}
	}, e)
	return all && plan.HasColumn(e)
}
