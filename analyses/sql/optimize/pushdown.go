package optimize

import (
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// pusher moves conditions towards the tables: below projections, UNNEST and joins. A query in FROM, a view and a query of WITH
// have a projection on top, which package bind does not look through. A condition that may fail stays where it is.
//
// If a condition reads both sides of a LEFT JOIN, a weaker condition on the left side alone is added below the join (see weaker).
// Rows that it excludes cannot be in the answer, so they need no partner, and do not travel to one.
type pusher struct {
	uses    map[plan.Node]int
	done    map[plan.Node]plan.Node
	queries func(plan.Expr) plan.Expr
}

// PushDown moves conditions towards the tables.
//
//	filter a > 1 and b > 2             join
//	  join                becomes        filter a > 1
//	    l (a)                              l (a)
//	    r (b)                            filter b > 2
//	                                       r (b)
func PushDown(roots []plan.Node) []plan.Node {
	p := &pusher{uses: plan.Uses(roots...), done: map[plan.Node]plan.Node{}}
	p.queries = plan.Queries(p.node)
	return all(roots, p.node)
}

// node returns the replacement of a node.
func (p *pusher) node(n plan.Node) plan.Node {
	if to := p.done[n]; to != nil {
		return to
	}
	to := n
	if f, ok := n.(*plan.Filter); ok && p.uses[n] <= 1 {
		to = p.filter(f)
	}
	in := plan.Inputs(to)
	for i := range in {
		in[i] = p.node(in[i])
	}
	to = plan.WithExprs(plan.WithInputs(to, in...), p.queries)
	p.done[n] = to
	return to
}

// filter pushes the parts of a filter. Parts that cannot be pushed as a whole stay in a filter.
func (p *pusher) filter(f *plan.Filter) plan.Node {
	var stay plan.Expr
	n := f.Input
	for _, part := range plan.Conjuncts(f.Cond) {
		whole := false
		if plan.Pushable(part) && (stay == nil || !plan.MayFail(stay)) { // an earlier part that may fail must still be computed first
			n, whole = p.into(n, part, true)
		}
		if !whole {
			stay = plan.And(stay, part)
		}
	}
	switch {
	case n == f.Input:
		return f
	case stay == nil:
		return n
	}
	return &plan.Filter{Input: n, Cond: stay}
}

// into returns a node with a condition pushed into it. whole reports whether all rows of the new node fulfil the condition; if
// not, it may still have dropped some rows that do not. into changes no node, because others may read it. With plain, the
// condition compares columns that no projection above has computed, so that pushing it below these projections computes nothing
// twice.
func (p *pusher) into(n plan.Node, cond plan.Expr, plain bool) (_ plan.Node, whole bool) {
	if p.uses[n] > 1 && !reads(n) {
		return n, false // it is computed once for all nodes that read it
	}
	switch x := n.(type) {
	case *plan.Scan:
		if plain {
			return &plan.Filter{Input: x, Cond: cond}, true
		}
	case *plan.Filter:
		if plain && reads(x) {
			return &plan.Filter{Input: x.Input, Cond: plan.And(x.Cond, cond)}, true
		}
		if plan.MayFail(x.Cond) {
			return n, false
		}
		if in, whole := p.into(x.Input, cond, plain); in != x.Input {
			return &plan.Filter{Input: in, Cond: x.Cond}, whole
		}
	case *plan.Project:
		by := x.Columns()
		given := plan.Substitute(cond, by)
		if !plan.Pushable(given) {
			return n, false
		}
		in, whole := p.into(x.Input, given, plain && !computes(cond, by))
		if in != x.Input {
			return plan.WithInputs(x, in), whole
		}
	case *plan.Unnest:
		if readsWithin(cond, plan.SetOf(x.Input.Fields())) {
			return plan.WithInputs(x, p.filtered(x.Input, cond, plain)), true
		}
	case *plan.Join:
		return p.intoJoin(x, cond, plain)
	}
	return n, false
}

func (p *pusher) intoJoin(n *plan.Join, cond plan.Expr, plain bool) (plan.Node, bool) {
	left := n.Kind != syntax.Right && n.Kind != syntax.Full
	right := n.Kind == syntax.Inner || n.Kind == syntax.Cross || n.Kind == syntax.Right
	switch side := n.Side(cond); {
	case left && side == plan.Left:
		return n.With(p.filtered(n.L, cond, plain), n.R), true
	case right && side == plan.Right:
		return n.With(n.L, p.filtered(n.R, cond, plain)), true
	case n.Kind == syntax.Left:
		if part := weaker(cond, plan.SetOf(n.L.Fields())); part != nil {
			return n.With(p.filtered(n.L, part, plain), n.R), false
		}
	}
	return n, false
}

// filtered returns the rows of a node that fulfil a condition.
func (p *pusher) filtered(n plan.Node, cond plan.Expr, plain bool) plan.Node {
	in, whole := p.into(n, cond, plain)
	if whole {
		return in
	}
	return &plan.Filter{Input: in, Cond: cond}
}

// reads reports whether a node only reads a table. Each leaf that reads the table does this anyway, so a copy of the node costs
// nothing.
func reads(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		return true
	case *plan.Filter:
		return reads(n.Input)
	case *plan.Project:
		return reads(n.Input)
	}
	return false
}

// computes reports whether a condition reads one of the given columns that is not merely copied.
func computes(cond plan.Expr, columns map[plan.ColumnID]plan.Expr) (found bool) {
	plan.Walk(func(e plan.Expr) {
		c, is := e.(*plan.Column)
		if !is {
			return
		}
		switch columns[c.ID].(type) {
		case *plan.Column, *plan.Const:
		default:
			found = true
		}
	}, cond)
	return found
}

// readsWithin reports whether an expression reads columns, all of which are in a set.
func readsWithin(e plan.Expr, of plan.Set) bool {
	some, all := false, true
	plan.Walk(func(e plan.Expr) {
		if c, is := e.(*plan.Column); is {
			some, all = true, all && of.Has(c.ID)
		}
	}, e)
	return some && all
}

// weaker returns a condition on some columns of a row alone that is true wherever cond is true. It returns nil if
// the only such condition is true itself. From a CASE it can learn something if these columns decide which value counts: CASE
// WHEN l > 0 THEN l ELSE r END > 5 can be true only where CASE WHEN l > 0 THEN l > 5 ELSE true END is.
func weaker(cond plan.Expr, of plan.Set) plan.Expr {
	if readsWithin(cond, of) {
		return cond
	}
	a, ok := cond.(*plan.Apply)
	if !ok {
		return nil
	}
	switch a.Func {
	case "AND":
		l, r := weaker(a.Args[0], of), weaker(a.Args[1], of)
		if l == nil || r == nil {
			return either(l, r)
		}
		return plan.And(l, r)
	case "OR":
		l, r := weaker(a.Args[0], of), weaker(a.Args[1], of)
		if l == nil || r == nil {
			return nil
		}
		return plan.Call(a.T, a.At, "OR", l, r)
	case "CASE", "if":
		return weakerCase(a, of, func(value plan.Expr) plan.Expr { return value })
	case "=", "<>", "<", "<=", ">", ">=":
		for i, x := range a.Args {
			when, ok := x.(*plan.Apply)
			if !ok || when.Func != "CASE" && when.Func != "if" {
				continue
			}
			return weakerCase(when, of, func(value plan.Expr) plan.Expr {
				args := slices.Clone(a.Args)
				args[i] = value
				return plan.Typed(&plan.Apply{Func: a.Func, Args: args}, a.T, a.At)
			})
		}
	}
	return nil
}

// either returns the condition that is not nil, or nil if both are.
func either(l, r plan.Expr) plan.Expr {
	if l == nil {
		return r
	}
	return l
}

// weakerCase is weaker for a comparison of the value of a CASE.
func weakerCase(e *plan.Apply, of plan.Set, about func(value plan.Expr) plan.Expr) plan.Expr {
	args, tells := make([]plan.Expr, len(e.Args)), false
	for i, x := range e.Args {
		if i%2 == 0 && i+1 < len(e.Args) { // a condition
			if !readsWithin(x, of) {
				return nil
			}
			args[i] = x
			continue
		}
		if args[i] = weaker(about(x), of); args[i] == nil {
			args[i] = plan.Value(types.Of(types.Bool), e.At, true)
		} else {
			tells = true
		}
	}
	if !tells {
		return nil
	}
	return plan.Typed(&plan.Apply{Func: "CASE", Args: args}, types.Of(types.Bool), e.At)
}
