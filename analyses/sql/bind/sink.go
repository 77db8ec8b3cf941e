package bind

import (
	"slices"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// where adds WHERE to the tables of FROM, and pushes its parts down. A part over one table becomes a filter below the join. An
// equality of two tables becomes a pair of their join, so that FROM a, b WHERE a.x = b.x does not make the product of all rows.
// A part that can fail stays on top, after the parts that may guard it.
func (b *binder) where(n Node, cond Expr) Node {
	var stay Expr
	var later []Expr // in the order of the text, because a part may guard the next one
	for _, part := range conjuncts(cond) {
		below, ok := b.sink(n, part)
		switch {
		case ok:
			n = below
		case find(part, asksQuery, nil) == nil && (len(later) == 0 || !fails(part)):
			stay = and(stay, part)
		default:
			later = append(later, part)
		}
	}
	if stay != nil {
		n = &Filter{n, stay}
	}
	for _, part := range later {
		n = b.attachWhere(n, part)
	}
	return n
}

// sink moves a condition over a join's columns below the join or into it. It returns false if the condition must stay above.
func (b *binder) sink(n Node, part Expr) (Node, bool) {
	if u, ok := n.(*Unnest); ok {
		if fails(part) || find(part, asksQuery, nil) != nil || side(part, len(u.Input.Fields())) != onLeft {
			return n, false
		}
		u.Input = b.filtered(u.Input, part)
		return n, true
	}
	j, ok := n.(*Join)
	if !ok || find(part, asksQuery, nil) != nil {
		return n, false
	}
	inner := j.Kind == syntax.Inner || j.Kind == syntax.Cross
	width := len(j.L.Fields())
	which := side(part, width)
	equality, isEquality := part.(*Apply)
	isEquality = isEquality && equality.Func == "="
	switch {
	case which != onBoth && fails(part):
		return n, false
	case which == onLeft && (inner || j.Kind == syntax.Left || j.Kind == syntax.Semi || j.Kind == syntax.Anti):
		j.L = b.filtered(j.L, part)
	case which == onRight && (inner || j.Kind == syntax.Right):
		j.R = b.filtered(j.R, shift(part, -width))
	case inner && isEquality && side(equality.Args[0], width) == onLeft && side(equality.Args[1], width) == onRight:
		b.pair(j, equality.Args[0], equality.Args[1])
		j.Kind = syntax.Inner
	case inner && isEquality && side(equality.Args[0], width) == onRight && side(equality.Args[1], width) == onLeft:
		b.pair(j, equality.Args[1], equality.Args[0])
		j.Kind = syntax.Inner
	case inner && which == onBoth && !fails(part):
		j.Rest = and(j.Rest, part)
		j.Kind = syntax.Inner
	default:
		return n, false
	}
	return n, true
}

// filtered adds a condition to a side of a join. If the side is a Filter, filtered itself has made it, because FROM never
// yields a bare Filter: a query in FROM has a Project on top.
func (b *binder) filtered(n Node, part Expr) Node {
	if below, ok := b.sink(n, part); ok {
		return below
	}
	if f, ok := n.(*Filter); ok {
		return &Filter{f.Input, and(f.Cond, part)}
	}
	return &Filter{n, part}
}

// and joins two conditions. The first may be nil.
func and(l, r Expr) Expr {
	if l == nil {
		return r
	}
	return &Apply{base{types.Of(types.Bool), r.Pos()}, "AND", []Expr{l, r}}
}

// conjuncts splits a condition at its ANDs. A factor that all sides of an OR have in common becomes a part of its own: (a AND
// b) OR (a AND c) becomes a AND (b OR c).
func conjuncts(e Expr) []Expr {
	a, ok := e.(*Apply)
	switch {
	case ok && a.Func == "AND":
		return append(conjuncts(a.Args[0]), conjuncts(a.Args[1])...)
	case ok && a.Func == "OR":
		return factored(a)
	}
	return []Expr{e}
}

func factored(e *Apply) []Expr {
	var branches [][]Expr
	var split func(Expr)
	split = func(x Expr) {
		if a, ok := x.(*Apply); ok && a.Func == "OR" {
			split(a.Args[0])
			split(a.Args[1])
			return
		}
		branches = append(branches, conjuncts(x))
	}
	split(e)
	in, count := newInterner(), map[int]int{}
	for _, branch := range branches {
		seen := map[int]bool{}
		for _, part := range branch {
			if id := in.id(part); !seen[id] && !fails(part) {
				seen[id] = true
				count[id]++
			}
		}
	}
	var out []Expr
	taken := map[int]bool{}
	var rest Expr
	whole := false
	for _, branch := range branches {
		var left Expr
		for _, part := range branch {
			switch id := in.id(part); {
			case count[id] < len(branches):
				left = and(left, part)
			case !taken[id]:
				taken[id] = true
				out = append(out, part)
			}
		}
		switch {
		case left == nil:
			whole = true // this side has the common factors alone, so the OR is true when these are
		case rest == nil:
			rest = left
		default:
			rest = &Apply{base{types.Of(types.Bool), e.At}, "OR", []Expr{rest, left}}
		}
	}
	switch {
	case len(out) == 0:
		return []Expr{e}
	case whole:
		return out
	}
	return append(out, rest)
}

func asksQuery(e Expr) bool {
	switch e.(type) {
	case *Subquery, *correlated, *outerRef:
		return true
	}
	return false
}

// neverFail has the operators that never fail, whatever their operands.
var neverFail = map[string]bool{"AND": true, "OR": true, "NOT": true, "=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true,
	"IS DISTINCT FROM": true, "IS NOT DISTINCT FROM": true, "IS NULL": true, "IN": true, "CASE": true, "coalesce": true, "nullif": true,
	"greatest": true, "least": true, "if": true, "ifnull": true, "length": true, "lower": true, "upper": true, "substring": true,
	"left": true, "right": true, "strpos": true, "starts_with": true, "ends_with": true, "contains": true,
	"year": true, "month": true, "day": true, "string_split": true, "list_contains": true, "list_extract": true, "iso_minutes": true,
	"haversine_km": true}

// MayFail reports whether the value of an expression may be an error for some row.
func MayFail(e Expr) bool { return fails(e) }

// MayFailIfRead is MayFail for an expression that is not computed for rows in which nothing reads it. Then it does not matter that
// a text may become too long.
func MayFailIfRead(e Expr) bool { return failsBut(e, "||") }

// fails reports whether the value of an expression may be an error for some row.
func fails(e Expr) bool { return failsBut(e, "") }

// failsBut is fails, where the errors of one operator do not count.
func failsBut(e Expr, operator string) bool {
	if find(e, func(e Expr) bool { _, ok := e.(*Column); return ok }, nil) == nil {
		return false // it has the same value for every row
	}
	return find(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Const, *Column:
			return false
		case *Cast:
			return e.T.Kind != types.Double || e.X.Type().Kind == types.Text
		case *Apply:
			if e.Func == "LIKE" || e.Func == "ILIKE" {
				_, constant := e.Args[1].(*Const)
				return !constant
			}
			if e.T.Kind == types.Double && (e.Func == "+" || e.Func == "-" || e.Func == "*" || e.Func == "/") {
				return false
			}
			return !neverFail[e.Func] && e.Func != operator && !addsSmall(e)
		}
		return true
	}, constant) != nil
}

// addsSmall reports whether an expression is the sum or the difference of two integers that are too small to overflow.
func addsSmall(e *Apply) bool {
	return e.T.Kind == types.BigInt && (e.Func == "+" || e.Func == "-") && !slices.ContainsFunc(e.Args, func(x Expr) bool { return !small(x) })
}

// small reports whether an integer is far from the ends of BIGINT: a small constant, or the length of a text or a list.
func small(e Expr) bool {
	switch e := e.(type) {
	case *Const:
		v, is := e.Value.(int64)
		return is && -1<<40 < v && v < 1<<40
	case *Apply:
		return e.Func == "length"
	}
	return false
}

// constant reports whether an expression has the same value for all rows.
func constant(e Expr) bool {
	return find(e, func(e Expr) bool {
		_, ok := e.(*Column)
		return ok || asksQuery(e)
	}, nil) == nil
}
