package compile

import (
	"math"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

// constants computes what is the same for all rows once, when the plan is compiled: DATE '1994-01-01' + INTERVAL '1' YEAR. Then
// conditions can be pushed towards the tables and can bound what parsers read (pushDown, push), which both know constants alone.
// An expression that fails stays as it is: it fails for the first row that asks for it, and for no empty table.
//
// Texts and lists are not computed, because the text of a plan bounds neither their number nor their length.
type constants struct {
	known   map[plan.Expr]bool // whether an expression can be computed here
	rewrite func(plan.Expr) plan.Expr
}

// foldConstants replaces constant parts of all expressions of the statements.
func (s *statement) foldConstants() {
	c := &constants{known: map[plan.Expr]bool{}}
	c.rewrite = plan.Rewrite(c.replace)
	done := map[plan.Node]bool{}
	for _, r := range s.roots {
		c.node(r.plan, done)
	}
}

func (c *constants) node(n plan.Node, done map[plan.Node]bool) {
	if done[n] {
		return
	}
	done[n] = true
	switch n := n.(type) {
	case *plan.Filter:
		n.Cond = c.rewrite(n.Cond)
	case *plan.Join:
		if n.Rest != nil {
			n.Rest = c.rewrite(n.Rest)
		}
	case *plan.Project:
		for i, e := range n.Exprs {
			n.Exprs[i] = c.rewrite(e)
		}
	case *plan.Aggregation:
		for i, a := range n.Aggs {
			n.Aggs[i] = c.rewrite(a).(*plan.Aggregate)
		}
	}
	for _, in := range append(plan.Inputs(n), queries(plan.Exprs(n))...) {
		c.node(in, done)
	}
}

// replace implements bind.Rewrite.
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
		is = bounded(e.T) && e.Func != bind.OneRow && len(e.Args) > 0
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
	return plan.Value(e.Type(), e.Pos(), constant(v, 0)), true
}

// datesCompared returns a comparison of a DATE with a TIMESTAMP that is constant as one of DATEs, nil for all other expressions.
// A date plus an interval is a TIMESTAMP, so binding converts the date that is compared with it, and neither pushDown nor push
// looks behind a conversion.
func (c *constants) datesCompared(e plan.Expr) plan.Expr {
	a, ok := e.(*plan.Apply)
	if !ok || mirrored[a.Func] == "" { // d::TIMESTAMP + INTERVAL '1' HOUR compares nothing
		return nil
	}
	op, l, r := a.Func, a.Args[0], a.Args[1]
	if c.computable(l) {
		op, l, r = mirrored[op], r, l
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
	day, whole := wholeUnits(at, microsPerDay)
	if op, ok = roundedDown(op, whole); !ok {
		return nil
	}
	limit := plan.Value(date.X.Type(), r.Pos(), day)
	return plan.Typed(&plan.Apply{Func: op, Args: []plan.Expr{c.rewrite(date.X), limit}}, a.T, a.At)
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

// mirrored are the comparisons with their operands exchanged.
var mirrored = map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// wholeUnits returns v in units, rounded down, and whether it is a whole number of them.
func wholeUnits(v, unit int64) (n int64, whole bool) {
	n = v / unit
	if n*unit > v {
		n--
	}
	return n, n*unit == v
}

// roundedDown returns the comparison of whole numbers with a limit that has been rounded down, which holds where op held for the
// limit itself. It returns false if there is none.
func roundedDown(op string, whole bool) (string, bool) {
	switch {
	case whole:
		_, ok := mirrored[op]
		return op, ok
	case op == "<" || op == "<=":
		return "<=", true
	case op == ">" || op == ">=":
		return ">", true
	}
	return op, false
}

// inUnits converts the digits of a number with from digits after the point to one with to digits, rounded down. It returns
// false for numbers that are too large.
func inUnits(v int64, from, to int) (n int64, whole, ok bool) {
	for ; from < to; from++ {
		if v > math.MaxInt64/10 || v < math.MinInt64/10 {
			return 0, false, false
		}
		v *= 10
	}
	n, whole = v, true
	for ; from > to; from-- {
		var also bool
		n, also = wholeUnits(n, 10)
		whole = whole && also
	}
	return n, whole, true
}
