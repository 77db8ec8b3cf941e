// Package bounds finds the values of single columns that the conditions of a statement exclude. A parser reads those columns first, and
// skips a row whose value is out of bounds: the row does not travel, and its other fields are not read, so they cannot reject the row. The
// conditions stay where they are, because bounds cover only a part of them.
package bounds

import (
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Bounds has the ranges of columns, by their places in the table. A column without one may have any value.
type Bounds map[int]*Range

// Range is a condition on a value: either its number in the order of eval.Sortable lies between two bounds, or it is one of certain texts.
// A nil Range excludes nothing. Others exclude NULL.
type Range struct {
	low, high uint64
	texts     []string // nil: the bounds count
}

// maxTexts is how many texts a value is compared with. A longer list is left to the filter, which finds a text by its hash.
const maxTexts = 16

// Any returns the range that excludes only NULL.
func Any() *Range { return &Range{high: math.MaxUint64} }

// Everything reports whether only NULL is excluded.
func (w *Range) Everything() bool { return w.low == 0 && w.high == math.MaxUint64 && w.texts == nil }

// Number reports whether a number is in bounds.
func (w *Range) Number(s uint64) bool { return w == nil || w.low <= s && s <= w.high }

// Text reports whether a text is one of those that are in bounds.
func (w *Range) Text(p []byte) bool {
	if w.texts == nil {
		return true
	}
	for _, t := range w.texts {
		if string(p) == t {
			return true
		}
	}
	return false
}

// Ends returns the least and the greatest number in bounds.
func (w *Range) Ends() (low, high uint64) { return w.low, w.high }

// Texts returns the texts that are in bounds, nil if numbers are bounded.
func (w *Range) Texts() []string { return w.texts }

// Add collects the ranges that a condition sets for single columns, whose places in the table are in at. Columns that are not usable get
// none. It reports whether later conditions may set ranges, too. They may not if this condition may fail for a row that their ranges would
// skip.
func (b *Bounds) Add(e plan.Expr, at plan.Layout, usable func(place int) bool) (more bool) {
	a, ok := e.(*plan.Apply)
	if !ok {
		return harmless(e)
	}
	if a.Func == "AND" && len(a.Args) == 2 {
		return b.Add(a.Args[0], at, usable) && b.Add(a.Args[1], at, usable)
	}
	if !harmless(e) {
		return false
	}
	narrow := func(c *plan.Column, by func(w *Range, t types.Type) bool) {
		place, found := at[c.ID]
		if !found || !usable(place) {
			return
		}
		w := Range{high: math.MaxUint64}
		if had := (*b)[place]; had != nil {
			w = *had
		}
		if !by(&w, c.T) { // the range cannot express the condition
			return
		}
		if *b == nil {
			*b = Bounds{}
		}
		(*b)[place] = &w
	}
	if column, values, ok := oneOf(e); ok {
		narrow(column, func(w *Range, t types.Type) bool { return w.oneOf(t, values) })
		return true
	}
	if len(a.Args) != 2 {
		return true
	}
	op := a.Func
	column, ok := a.Args[0].(*plan.Column)
	value, also := a.Args[1].(*plan.Const)
	if !ok {
		column, ok = a.Args[1].(*plan.Column)
		value, also = a.Args[0].(*plan.Const)
		op = plan.Mirrored(op)
	}
	if ok && also {
		narrow(column, func(w *Range, t types.Type) bool { return w.compare(op, t, value) })
	}
	return true
}

// oneOf takes apart a condition that a column equals one of several constants.
func oneOf(e plan.Expr) (column *plan.Column, values []*plan.Const, ok bool) {
	a, ok := e.(*plan.Apply)
	if !ok {
		return nil, nil, false
	}
	switch {
	case a.Func == "OR" && len(a.Args) == 2:
		l, left, ok := oneOf(a.Args[0])
		if !ok {
			return nil, nil, false
		}
		r, right, ok := oneOf(a.Args[1])
		return l, append(left, right...), ok && l.ID == r.ID
	case a.Func != "IN" && (a.Func != "=" || len(a.Args) != 2):
		return nil, nil, false
	}
	for _, x := range a.Args {
		switch x := x.(type) {
		case *plan.Const:
			values = append(values, x)
		case *plan.Column:
			if column != nil {
				return nil, nil, false
			}
			column = x
		default:
			return nil, nil, false
		}
	}
	return column, values, column != nil && (a.Func == "=" || column == a.Args[0])
}

// mostOnly is how many values Only returns at most.
const mostOnly = 256

// Only returns the only values for which a condition on a column of type t may be true: as integers in units of the type, as floats, or as
// texts. ok is false if there may be others, or if they are many.
func Only(e plan.Expr, t types.Type) (values []any, ok bool) {
	for _, part := range plan.Conjuncts(e) {
		_, all, is := oneOf(part)
		if !is || len(all) > mostOnly {
			continue
		}
		if of, known := onlyOf(t, all); known && (!ok || len(of) < len(values)) {
			values, ok = of, true
		}
	}
	return values, ok
}

func onlyOf(t types.Type, all []*plan.Const) (values []any, ok bool) {
	for _, c := range all {
		switch v := c.Value.(type) {
		case nil: // no value equals NULL
		case string:
			if t.Kind != types.Text {
				return nil, false
			}
			values = append(values, v)
		case float64:
			if t.Kind != types.Double || v != v { // there are many NaNs
				return nil, false
			}
			values = append(values, v)
		case int64:
			n, whole, ok := v, true, c.T == t
			if !ok && digits(t) && digits(c.T) {
				n, whole, ok = inUnits(v, int(c.T.Scale), int(t.Scale))
			}
			if !ok {
				return nil, false
			}
			if whole {
				values = append(values, n)
			}
		default:
			return nil, false
		}
	}
	return values, true
}

// harmless reports whether an expression never fails.
func harmless(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Column, *plan.Const:
		return true
	case *plan.Apply:
		switch e.Func {
		case "AND", "OR", "NOT", "=", "<>", "<", "<=", ">", ">=", "IN", "IS NULL":
			return !slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return !harmless(a) })
		case "LIKE":
			return len(e.Args) == 2 && harmless(e.Args[0]) && harmless(e.Args[1])
		}
	}
	return false
}

// oneOf narrows the bounds to those of several values. It returns false if they cannot express that.
func (w *Range) oneOf(t types.Type, values []*plan.Const) bool {
	if t.Kind == types.Text {
		return w.oneText(values)
	}
	if len(values) == 1 {
		return w.compare("=", t, values[0])
	}
	all := Range{low: math.MaxUint64}
	for _, v := range values {
		one := Range{high: math.MaxUint64}
		if v.Value == nil {
			continue // no value equals NULL
		}
		if !one.compare(">=", t, v) || !one.compare("<=", t, v) {
			return false
		}
		all.low, all.high = min(all.low, one.low), max(all.high, one.high)
	}
	w.low, w.high = max(w.low, all.low), min(w.high, all.high)
	return true
}

func (w *Range) oneText(values []*plan.Const) bool {
	if len(values) > maxTexts {
		return false
	}
	texts := []string{}
	for _, v := range values {
		s, ok := v.Value.(string)
		if !ok && v.Value != nil {
			return false
		}
		if ok && (w.texts == nil || slices.Contains(w.texts, s)) && !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
	}
	w.texts = texts
	return true
}

// compare narrows the bounds of a column of type t. It returns false if they cannot express the comparison.
func (w *Range) compare(op string, t types.Type, c *plan.Const) bool {
	var at uint64
	switch v := c.Value.(type) {
	case int64:
		whole := true
		if c.T != t {
			var ok bool
			if !digits(t) || !digits(c.T) {
				return false
			}
			if v, whole, ok = inUnits(v, int(c.T.Scale), int(t.Scale)); !ok {
				return false
			}
		}
		ok := false
		if op, ok = plan.RoundedDown(op, whole); !ok {
			return false
		}
		at = uint64(v) ^ 1<<63
	case float64:
		if c.T != t {
			return false
		}
		at = eval.SortableDouble(v)
	default:
		return false
	}
	switch op {
	case "=":
		w.low, w.high = max(w.low, at), min(w.high, at)
	case "<=":
		w.high = min(w.high, at)
	case ">=":
		w.low = max(w.low, at)
	case "<":
		if at == 0 {
			return false
		}
		w.high = min(w.high, at-1)
	case ">":
		if at == math.MaxUint64 {
			return false
		}
		w.low = max(w.low, at+1)
	default:
		return false
	}
	return true
}

// digits reports whether values of a type are whole numbers of 10^-Scale.
func digits(t types.Type) bool { return t.Kind == types.BigInt || t.Kind == types.Decimal }

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
		n, also = plan.WholeUnits(n, 10)
		whole = whole && also
	}
	return n, whole, true
}
