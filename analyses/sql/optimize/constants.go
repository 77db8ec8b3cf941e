package optimize

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// constants computes what is the same for all rows once: DATE '1994-01-01' + INTERVAL '1' YEAR. Then
// conditions can be pushed towards the tables and can bound what parsers read (PushDown, package bounds), which both know constants alone.
// An expression that fails stays as it is: it fails for the first row that asks for it, and for no empty table.
//
// Texts and lists are not computed, because the text of a plan bounds neither their number nor their length.
type constants struct {
	known   map[plan.Expr]bool // whether an expression can be computed here
	rewrite func(plan.Expr) plan.Expr
}

// Constants replaces constant parts of expressions by their values.
//
//	filter x < 1 + 2        becomes    filter x < 3
func Constants(roots []plan.Node) []plan.Node {
	c := &constants{known: map[plan.Expr]bool{}}
	c.rewrite = plan.Rewrite(c.replace)
	return all(roots, plan.Rebuild(func(n plan.Node) plan.Node {
		switch n := n.(type) {
		case *plan.Filter, *plan.Project:
			return plan.WithExprs(n, c.rewrite)
		case *plan.Join:
			if n.Rest == nil || c.rewrite(n.Rest) == n.Rest {
				return n
			}
			to := n.With(n.L, n.R)
			to.Rest = c.rewrite(n.Rest)
			return to
		case *plan.Aggregation: // its keys stay, because a constant may be a key
			return plan.WithExprs(n, func(e plan.Expr) plan.Expr {
				if _, is := e.(*plan.Aggregate); is {
					return c.rewrite(e)
				}
				return e
			})
		}
		return n
	}))
}

// replace is what plan.Rewrite asks.
func (c *constants) replace(e plan.Expr) (plan.Expr, bool) {
	if _, is := e.(*plan.Const); is {
		return e, true
	}
	if c.computable(e) {
		if v, ok := computedNow(e); ok {
			return v, true
		}
	}
	if d := c.datesCompared(e); d != nil {
		return d, true
	}
	return nil, false
}

// computable reports whether an expression consists of constants and of operators whose values have a bounded size.
func (c *constants) computable(e plan.Expr) bool {
	if known, ok := c.known[e]; ok {
		return known
	}
	is := false
	switch e := e.(type) {
	case *plan.Const:
		is = true
	case *plan.Cast:
		is = bounded(e.T) && c.computable(e.X)
	case *plan.Apply:
		is = bounded(e.T) && e.Func != plan.OneRow && len(e.Args) > 0
		for _, a := range e.Args {
			is = is && c.computable(a)
		}
	}
	c.known[e] = is
	return is
}

func bounded(t types.Type) bool {
	switch t.Kind {
	case types.BigInt, types.Double, types.Decimal, types.Bool, types.Date, types.Timestamp:
		return true
	}
	return false
}

// computedNow returns the value of a constant expression. It returns false if the expression fails.
func computedNow(e plan.Expr) (*plan.Const, bool) {
	p, err := eval.Compile(e, plan.Layout{})
	if err != nil {
		return nil, false
	}
	v, err := p.Run(nil, 1, nil)
	if err != nil {
		return nil, false
	}
	return plan.Value(e.Type(), e.Pos(), v.Value(0)), true
}

// datesCompared returns a comparison of a DATE with a TIMESTAMP that is constant as one of DATEs, nil for all other expressions.
// A date plus an interval is a TIMESTAMP, so binding converts the date that is compared with it, and neither PushDown nor package bounds
// looks behind a conversion.
func (c *constants) datesCompared(e plan.Expr) plan.Expr {
	a, ok := e.(*plan.Apply)
	if !ok || plan.Mirrored(a.Func) == "" { // d::TIMESTAMP + INTERVAL '1' HOUR compares nothing
		return nil
	}
	op, l, r := a.Func, a.Args[0], a.Args[1]
	if c.computable(l) {
		op, l, r = plan.Mirrored(op), r, l
	}
	date, ok := l.(*plan.Cast)
	if !ok || date.X.Type().Kind != types.Date || date.T.Kind != types.Timestamp || !c.computable(r) {
		return nil
	}
	value, ok := computedNow(r)
	if !ok {
		return nil
	}
	at, ok := value.Value.(int64)
	if !ok {
		return nil
	}
	day, whole := plan.WholeUnits(at, microsPerDay)
	if op, ok = plan.RoundedDown(op, whole); !ok {
		return nil
	}
	limit := plan.Value(date.X.Type(), r.Pos(), day)
	return plan.Typed(&plan.Apply{Func: op, Args: []plan.Expr{c.rewrite(date.X), limit}}, a.T, a.At)
}

const microsPerDay = 24 * 60 * 60 * 1_000_000
