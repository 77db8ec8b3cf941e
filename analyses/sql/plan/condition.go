package plan

import (
	"slices"

	"posta.dev/posta/analyses/sql/types"
)

// And joins two conditions. The first may be nil.
func And(l, r Expr) Expr {
	if l == nil {
		return r
	}
	return &Apply{Base{types.Of(types.Bool), r.Pos()}, "AND", []Expr{l, r}}
}

// Conjuncts splits a condition at its ANDs. A factor that all sides of an OR have in common becomes a part of its own: (a AND
// b) OR (a AND c) becomes a AND (b OR c).
func Conjuncts(e Expr) []Expr {
	a, ok := e.(*Apply)
	switch {
	case ok && a.Func == "AND":
		return append(Conjuncts(a.Args[0]), Conjuncts(a.Args[1])...)
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
		branches = append(branches, Conjuncts(x))
	}
	split(e)
	in, count := NewNumbering(), map[int]int{}
	for _, branch := range branches {
		seen := map[int]bool{}
		for _, part := range branch {
			if id := in.Number(part); !seen[id] && !MayFail(part) {
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
			switch id := in.Number(part); {
			case count[id] < len(branches):
				left = And(left, part)
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
			rest = &Apply{Base{types.Of(types.Bool), e.At}, "OR", []Expr{rest, left}}
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

func AsksQuery(e Expr) bool {
	if u, ok := e.(Unbound); ok {
		return u.Asks()
	}
	_, ok := e.(*Subquery)
	return ok
}

func total(name string) bool {
	f := types.Find(name)
	return operators[name].total || f != nil && f.Total
}

// MayFailIfRead is MayFail for an expression that is not computed for rows in which nothing reads it. Then it does not matter that
// a text may become too long.
func MayFailIfRead(e Expr) bool { return failsBut(e, "||") }

// MayFail reports whether the value of an expression may be an error for some row.
func MayFail(e Expr) bool { return failsBut(e, "") }

// failsBut is fails, where the errors of one operator do not count.
func failsBut(e Expr, operator string) bool {
	if Find(e, func(e Expr) bool { _, ok := e.(*Column); return ok }, nil) == nil {
		return false // it has the same value for every row
	}
	return Find(e, func(e Expr) bool {
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
			return !total(e.Func) && e.Func != operator && !addsSmall(e)
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
	return Find(e, func(e Expr) bool {
		_, ok := e.(*Column)
		return ok || AsksQuery(e)
	}, nil) == nil
}

// Pushable reports whether a condition may be computed for other rows than those it stands above: it never fails, and asks no query.
func Pushable(e Expr) bool { return !MayFail(e) && len(QueriesIn(e)) == 0 }
