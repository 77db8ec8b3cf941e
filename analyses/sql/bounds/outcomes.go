package bounds

import (
	"math"
	"strings"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Values is what is known of the values of a column in some rows.
type Values struct {
	Type  types.Type
	Nulls bool // some may be NULL
	None  bool // all are NULL

	// Those that are not NULL lie between two numbers, in the order of eval.Sortable, or between two texts. If neither is known, they may be
	// anything.
	Numbers     bool
	Least, Most uint64
	Texts       bool
	First, Last string
	Cut         bool // First and Last may be equal though the texts are not
}

// Outcomes returns whether a condition on the column may be true for one of the rows, and whether it may be false. Of what it cannot judge,
// it says that it may be both. The condition reads no other column.
func (v *Values) Outcomes(e plan.Expr) (is, not bool) {
	switch e := e.(type) {
	case *plan.Const:
		b, known := e.Value.(bool)
		return b || e.Value != nil && !known, !b && e.Value != nil
	case *plan.Apply:
		return v.apply(e)
	}
	return true, true
}

func (v *Values) apply(e *plan.Apply) (is, not bool) {
	switch e.Func {
	case "AND", "OR":
		if len(e.Args) != 2 {
			return true, true
		}
		is, not = v.Outcomes(e.Args[0])
		also, neither := v.Outcomes(e.Args[1])
		if e.Func == "AND" {
			return is && also, not || neither
		}
		return is || also, not && neither
	case "NOT":
		is, not = v.Outcomes(e.Args[0])
		return not, is
	case "IS NULL":
		if _, direct := e.Args[0].(*plan.Column); !direct {
			return true, true
		}
		return v.Nulls || v.None, !v.None
	case "=", "<>", "<", "<=", ">", ">=":
		return v.comparison(e)
	case "IN":
		return v.in(e)
	case "LIKE", "starts_with":
		return v.prefix(e)
	}
	return true, true
}

// comparison is Outcomes of a comparison of the column with a constant.
func (v *Values) comparison(e *plan.Apply) (is, not bool) {
	op := e.Func
	column, ok := e.Args[0].(*plan.Column)
	value, also := e.Args[1].(*plan.Const)
	if !ok {
		column, ok = e.Args[1].(*plan.Column)
		value, also = e.Args[0].(*plan.Const)
		op = plan.Mirrored(op)
	}
	switch {
	case !ok || !also:
		return true, true
	case v.None || value.Value == nil:
		return false, false
	case op == "<>":
		is, not = v.compare("=", column.T, value)
		return not, is
	}
	return v.compare(op, column.T, value)
}

func (v *Values) compare(op string, t types.Type, value *plan.Const) (is, not bool) {
	if s, text := value.Value.(string); text && v.Texts {
		return v.compareText(op, s)
	}
	w := Range{high: math.MaxUint64}
	if !v.Numbers || !w.compare(op, t, value) {
		return true, true
	}
	return w.low <= w.high && v.Least <= w.high && w.low <= v.Most, v.Least < w.low || v.Most > w.high
}

func (v *Values) compareText(op, s string) (is, not bool) {
	switch op {
	case "=":
		return v.First <= s && s <= v.Last, v.Cut || v.First != s || v.Last != s
	case "<":
		return v.First < s, v.Last >= s
	case "<=":
		return v.First <= s, v.Last > s
	case ">":
		return v.Last > s, v.First <= s
	case ">=":
		return v.Last >= s, v.First < s
	}
	return true, true
}

// in is Outcomes of IN with constants.
func (v *Values) in(e *plan.Apply) (is, not bool) {
	column, ok := e.Args[0].(*plan.Column)
	if !ok {
		return true, true
	}
	if v.None {
		return false, false
	}
	not = true
	for _, a := range e.Args[1:] {
		value, constant := a.(*plan.Const)
		if !constant {
			return true, true
		}
		if value.Value == nil {
			not = false // what equals no other value is NULL
			continue
		}
		equal, differs := v.compare("=", column.T, value)
		is, not = is || equal, not && differs
	}
	return is, not
}

// prefix is Outcomes of LIKE and starts_with with constants: only texts that begin like the pattern may pass.
func (v *Values) prefix(e *plan.Apply) (is, not bool) {
	if len(e.Args) != 2 {
		return true, true
	}
	_, direct := e.Args[0].(*plan.Column)
	value, constant := e.Args[1].(*plan.Const)
	if !direct || !constant {
		return true, true
	}
	if v.None || value.Value == nil {
		return false, false
	}
	pattern, text := value.Value.(string)
	if !text || !v.Texts {
		return true, true
	}
	prefix, rest := pattern, "%"
	if e.Func == "LIKE" {
		if at := strings.IndexAny(pattern, "%_"); at >= 0 {
			prefix, rest = pattern[:at], pattern[at:]
		} else {
			return v.compareText("=", pattern)
		}
	}
	// First cut to the length of the prefix is above it only if all texts are above those with the prefix.
	is = v.First[:min(len(v.First), len(prefix))] <= prefix && prefix <= v.Last
	all := strings.Trim(rest, "%") == "" && strings.HasPrefix(v.First, prefix) && strings.HasPrefix(v.Last, prefix)
	return is, !all
}
