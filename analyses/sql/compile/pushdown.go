package compile

import (
	"slices"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// pusher moves conditions towards the tables: below projections, UNNEST and joins. A query in FROM, a view and a query of WITH
// have a projection on top, which package bind does not look through. A condition that may fail stays where it is.
//
// If a condition reads both sides of a LEFT JOIN, a weaker condition on the left side alone is added below the join (see weaker).
// Rows that it excludes cannot be in the answer, so they need no partner, and do not travel to one.
type pusher struct {
	*statement
	done map[bind.Node]bool
}

func (s *statement) pushDown() {
	p := &pusher{s, map[bind.Node]bool{}}
	for i := range s.roots {
		s.roots[i].plan = p.pushed(s.roots[i].plan)
	}
}

// pushed returns the replacement of a node.
func (p *pusher) pushed(n bind.Node) bind.Node {
	if f, ok := n.(*bind.Filter); ok && p.uses[n] <= 1 {
		n = p.filter(f)
	}
	if p.done[n] {
		return n
	}
	p.done[n] = true
	for _, plan := range queries(bind.Exprs(n)) {
		p.below(plan) // keep the plan's own node, because it identifies the query
	}
	p.below(n)
	return n
}

// below pushes conditions in the inputs of a node.
func (p *pusher) below(n bind.Node) {
	switch n := n.(type) {
	case *bind.Join:
		n.L, n.R = p.pushed(n.L), p.pushed(n.R)
	case *bind.SetOp:
		n.L, n.R = p.pushed(n.L), p.pushed(n.R)
	case *bind.Filter:
		n.Input = p.pushed(n.Input)
	case *bind.Aggregation:
		n.Input = p.pushed(n.Input)
	case *bind.Windows:
		n.Input = p.pushed(n.Input)
	case *bind.Unnest:
		n.Input = p.pushed(n.Input)
	case *bind.Project:
		n.Input = p.pushed(n.Input)
	case *bind.Distinct:
		n.Input = p.pushed(n.Input)
	case *bind.Sort:
		n.Input = p.pushed(n.Input)
	case *bind.Limit:
		n.Input = p.pushed(n.Input)
	}
}

// filter pushes the parts of a filter. Parts that cannot be pushed as a whole stay in a filter.
func (p *pusher) filter(f *bind.Filter) bind.Node {
	var stay bind.Expr
	n := f.Input
	for _, part := range bind.Conjuncts(f.Cond) {
		whole := false
		if pushable(part) && (stay == nil || !bind.MayFail(stay)) { // an earlier part that may fail must still be computed first
			n, whole = p.into(n, part, true)
		}
		if !whole {
			stay = bind.And(stay, part)
		}
	}
	switch {
	case n == f.Input:
		return f
	case stay == nil:
		return n
	}
	return &bind.Filter{Input: n, Cond: stay}
}

func pushable(e bind.Expr) bool { return !bind.MayFail(e) && !containsSubquery(e) }

// into returns a node with a condition pushed into it. whole reports whether all rows of the new node fulfil the condition; if
// not, it may still have dropped some rows that do not. into changes no node, because others may read it. With plain, the
// condition compares columns that no projection above has computed, so that pushing it below these projections computes nothing
// twice.
func (p *pusher) into(n bind.Node, cond bind.Expr, plain bool) (_ bind.Node, whole bool) {
	if p.uses[n] > 1 && !reads(n) {
		return n, false // it is computed once for all nodes that read it
	}
	switch x := n.(type) {
	case *bind.Scan:
		if plain {
			return &bind.Filter{Input: x, Cond: cond}, true
		}
	case *bind.Filter:
		if plain && reads(x) {
			return &bind.Filter{Input: x.Input, Cond: bind.And(x.Cond, cond)}, true
		}
		if bind.MayFail(x.Cond) {
			return n, false
		}
		if in, whole := p.into(x.Input, cond, plain); in != x.Input {
			return &bind.Filter{Input: in, Cond: x.Cond}, whole
		}
	case *bind.Project:
		given := bind.Substitute(cond, x.Exprs)
		if !pushable(given) {
			return n, false
		}
		in, whole := p.into(x.Input, given, plain && !computes(cond, x.Exprs))
		if in != x.Input {
			return bind.Giving(&bind.Project{Input: in, Exprs: x.Exprs}, x.Fields()), whole
		}
	case *bind.Unnest:
		if readsWithin(cond, 0, len(x.Input.Fields())) {
			to := *x
			to.Input = p.filtered(x.Input, cond, plain)
			return &to, true
		}
	case *bind.Join:
		return p.intoJoin(x, cond, plain)
	}
	return n, false
}

func (p *pusher) intoJoin(n *bind.Join, cond bind.Expr, plain bool) (bind.Node, bool) {
	to, width := *n, len(n.L.Fields())
	left := n.Kind != syntax.Right && n.Kind != syntax.Full
	right := n.Kind == syntax.Inner || n.Kind == syntax.Cross || n.Kind == syntax.Right
	switch {
	case left && readsWithin(cond, 0, width):
		to.L = p.filtered(n.L, cond, plain)
		return &to, true
	case right && readsWithin(cond, width, width+len(n.R.Fields())):
		to.R = p.filtered(n.R, shifted(cond, -width), plain)
		return &to, true
	case n.Kind == syntax.Left:
		if part := weaker(cond, width); part != nil {
			to.L = p.filtered(n.L, part, plain)
			return &to, false
		}
	}
	return n, false
}

// filtered returns the rows of a node that fulfil a condition.
func (p *pusher) filtered(n bind.Node, cond bind.Expr, plain bool) bind.Node {
	in, whole := p.into(n, cond, plain)
	if whole {
		return in
	}
	return &bind.Filter{Input: in, Cond: cond}
}

// reads reports whether a node only reads a table. Each leaf that reads the table does this anyway, so a copy of the node costs
// nothing.
func reads(n bind.Node) bool {
	switch n := n.(type) {
	case *bind.Scan:
		return true
	case *bind.Filter:
		return reads(n.Input)
	case *bind.Project:
		return reads(n.Input)
	}
	return false
}

// computes reports whether a condition reads one of the given columns that is not merely copied.
func computes(cond bind.Expr, columns []bind.Expr) bool {
	live := make([]bool, len(columns))
	bind.Mark(live, cond)
	for i, l := range live {
		switch columns[i].(type) {
		case *bind.Column, *bind.Const:
		default:
			if l {
				return true
			}
		}
	}
	return false
}

// readsWithin reports whether an expression reads columns, all of which are from lo to hi.
func readsWithin(e bind.Expr, lo, hi int) bool {
	some, all := false, true
	seen := map[bind.Expr]bool{}
	var walk func(e bind.Expr)
	walk = func(e bind.Expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		if c, ok := e.(*bind.Column); ok {
			some, all = true, all && c.Index >= lo && c.Index < hi
		}
		for _, c := range bind.Children(e) {
			walk(c)
		}
	}
	walk(e)
	return some && all
}

// weaker returns a condition on the first width columns of a row alone that is true wherever cond is true. It returns nil if
// the only such condition is true itself. From a CASE it can learn something if these columns decide which value counts: CASE
// WHEN l > 0 THEN l ELSE r END > 5 can be true only where CASE WHEN l > 0 THEN l > 5 ELSE true END is.
func weaker(cond bind.Expr, width int) bind.Expr {
	if readsWithin(cond, 0, width) {
		return cond
	}
	a, ok := cond.(*bind.Apply)
	if !ok {
		return nil
	}
	switch a.Func {
	case "AND":
		l, r := weaker(a.Args[0], width), weaker(a.Args[1], width)
		if l == nil || r == nil {
			return either(l, r)
		}
		return bind.And(l, r)
	case "OR":
		l, r := weaker(a.Args[0], width), weaker(a.Args[1], width)
		if l == nil || r == nil {
			return nil
		}
		return bind.Typed(&bind.Apply{Func: "OR", Args: []bind.Expr{l, r}}, a.T, a.At)
	case "CASE", "if":
		return weakerCase(a, width, func(value bind.Expr) bind.Expr { return value })
	case "=", "<>", "<", "<=", ">", ">=":
		for i, x := range a.Args {
			of, ok := x.(*bind.Apply)
			if !ok || of.Func != "CASE" && of.Func != "if" {
				continue
			}
			return weakerCase(of, width, func(value bind.Expr) bind.Expr {
				args := slices.Clone(a.Args)
				args[i] = value
				return bind.Typed(&bind.Apply{Func: a.Func, Args: args}, a.T, a.At)
			})
		}
	}
	return nil
}

// either returns the condition that is not nil, or nil if both are.
func either(l, r bind.Expr) bind.Expr {
	if l == nil {
		return r
	}
	return l
}

// weakerCase is weaker for a comparison of the value of a CASE.
func weakerCase(e *bind.Apply, width int, about func(value bind.Expr) bind.Expr) bind.Expr {
	args, tells := make([]bind.Expr, len(e.Args)), false
	for i, x := range e.Args {
		if i%2 == 0 && i+1 < len(e.Args) { // a condition
			if !readsWithin(x, 0, width) {
				return nil
			}
			args[i] = x
			continue
		}
		if args[i] = weaker(about(x), width); args[i] == nil {
			args[i] = bind.Typed(&bind.Const{Value: true}, types.Of(types.Bool), e.At)
		} else {
			tells = true
		}
	}
	if !tells {
		return nil
	}
	return bind.Typed(&bind.Apply{Func: "CASE", Args: args}, types.Of(types.Bool), e.At)
}
