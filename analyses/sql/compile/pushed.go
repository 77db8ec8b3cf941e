package compile

import (
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/types"
)

// A parser first reads the columns that WHERE compares with constants. If such a value is out of bounds, it skips the row: the
// row does not travel, and its other fields are not read, so they cannot reject the row. The leaf keeps its complete filter,
// because the bounds cover only a part of WHERE.

// within is a condition on a value: either its number in the order of sortable lies between two bounds, or it is one of certain
// texts.
type within struct {
	low, high uint64
	texts     []string // nil: the bounds count
}

// maxTexts is how many texts a value is compared with. A longer list is left to the filter, which finds a text by its hash.
const maxTexts = 16

func (w *within) number(s uint64) bool { return w == nil || w.low <= s && s <= w.high }

func (w *within) text(p []byte) bool {
	for _, t := range w.texts {
		if string(p) == t {
			return true
		}
	}
	return false
}

// push gives the bounds of a leaf to the parsers if the leaf is the only one that reads its table. Of a table that joiners have,
// only rows within the bounds reach them.
func (s *statement) push() {
	readers := map[*scan]int{}
	for _, l := range s.leaves {
		readers[l.scan]++
	}
	for _, l := range s.leaves {
		if readers[l.scan] > 1 || s.refs[l.scan.of] {
			continue
		}
		at := plan.LayoutOf(l.from.Fields())
		for _, step := range l.steps {
			if f, ok := step.(*plan.Filter); !ok || !l.scan.bound(f.Cond, at) {
				break
			}
		}
	}
	for _, sc := range s.order {
		if s.refs[sc.of] {
			sc.within = s.bounds(sc.of)
		}
	}
}

// bounds returns the bounds of all rows that the statement reads of a table. It has none if the table is read in several places,
// because each may want other rows.
func (s *statement) bounds(t *plan.Table) map[int]*within {
	if s.within == nil {
		s.within = map[*plan.Table]map[int]*within{}
		for _, r := range s.roots {
			s.boundTables(r.plan)
		}
	}
	return s.within[t]
}

// boundTables finds the bounds of the tables of a plan.
func (s *statement) boundTables(root plan.Node) {
	above := map[plan.Node]*plan.Filter{}
	var scans []*plan.Scan
	walk(root, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Filter:
			above[n.Input] = n
		case *plan.Scan:
			scans = append(scans, n)
		}
	})
	for _, n := range scans {
		if _, again := s.within[n.Table]; again {
			s.within[n.Table] = nil
			continue
		}
		sc, places := &scan{table: s.about(n.Table)}, plan.LayoutOf(n.Fields())
		for at := plan.Node(n); above[at] != nil && s.uses[at] == 1 && sc.bound(above[at].Cond, places); {
			at = above[at]
		}
		s.within[n.Table] = sc.within
	}
}

// bound collects the bounds that a condition sets for single columns, whose places in the table are in at. It reports whether later
// conditions may set bounds, too.
// They may not if this condition may fail for a row that their bounds would skip.
func (s *scan) bound(e plan.Expr, at plan.Layout) (more bool) {
	a, ok := e.(*plan.Apply)
	if !ok {
		return harmless(e)
	}
	if a.Func == "AND" && len(a.Args) == 2 {
		return s.bound(a.Args[0], at) && s.bound(a.Args[1], at)
	}
	if !harmless(e) {
		return false
	}
	if column, values, ok := oneOf(e); ok {
		s.narrow(at[column.ID], column.T, func(w *within, t types.Type) bool { return w.oneOf(t, values) })
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
		op = mirrored[op]
	}
	if ok && also {
		s.narrow(at[column.ID], column.T, func(w *within, t types.Type) bool { return w.compare(op, t, value) })
	}
	return true
}

// narrow changes the bounds of a column's values. It keeps the bounds if by cannot express its condition.
func (s *scan) narrow(at int, t types.Type, by func(*within, types.Type) bool) {
	if at >= len(s.table.Columns) || s.table.Columns[at].Star > 0 {
		return
	}
	w := within{high: math.MaxUint64}
	if had := s.within[at]; had != nil {
		w = *had
	}
	if !by(&w, t) {
		return
	}
	if s.within == nil {
		s.within = map[int]*within{}
	}
	s.within[at] = &w
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
func (w *within) oneOf(t types.Type, values []*plan.Const) bool {
	if t.Kind == types.Text {
		return w.oneText(values)
	}
	if len(values) == 1 {
		return w.compare("=", t, values[0])
	}
	all := within{low: math.MaxUint64}
	for _, v := range values {
		one := within{high: math.MaxUint64}
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

func (w *within) oneText(values []*plan.Const) bool {
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
func (w *within) compare(op string, t types.Type, c *plan.Const) bool {
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
		if op, ok = roundedDown(op, whole); !ok {
			return false
		}
		at = uint64(v) ^ 1<<63
	case float64:
		if c.T != t {
			return false
		}
		at = sortableDouble(v)
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
