package compile

import (
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/bind"
)

// A parser first reads the columns that WHERE compares with constants. If such a value is out of bounds, it skips the row: the
// row does not travel, and its other fields are not read, so they cannot reject the row. The leaf keeps its complete filter,
// because the bounds cover only a part of WHERE.

// within is a condition on a value: either its number in the order of sortable lies between two bounds, or it equals a
// certain text.
type within struct {
	low, high uint64
	text      string
	is        bool // compare with text instead of the bounds
}

func (w *within) number(s uint64) bool { return w == nil || w.low <= s && s <= w.high }

// push gives the bounds of a leaf to the parsers if the leaf is the only one that reads its table.
func (s *statement) push() {
	readers := map[*scan]int{}
	for _, l := range s.leaves {
		readers[l.scan]++
	}
	for _, l := range s.leaves {
		if readers[l.scan] > 1 || s.refs[l.scan.of] {
			continue
		}
		for _, step := range l.steps {
			if f, ok := step.(*bind.Filter); !ok || !l.scan.bound(f.Cond) {
				break
			}
		}
	}
}

// bound collects the bounds that a condition sets for single columns. It reports whether later conditions may set bounds, too.
// They may not if this condition may fail for a row that their bounds would skip.
func (s *scan) bound(e bind.Expr) (more bool) {
	a, ok := e.(*bind.Apply)
	if !ok {
		return harmless(e)
	}
	if a.Func == "AND" && len(a.Args) == 2 {
		return s.bound(a.Args[0]) && s.bound(a.Args[1])
	}
	if !harmless(e) {
		return false
	}
	if len(a.Args) != 2 {
		return true
	}
	op := a.Func
	column, ok := a.Args[0].(*bind.Column)
	value, also := a.Args[1].(*bind.Const)
	if !ok {
		column, ok = a.Args[1].(*bind.Column)
		value, also = a.Args[0].(*bind.Const)
		op = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	if !ok || !also || value.Value == nil || column.Index >= len(s.table.Columns) || s.table.Columns[column.Index].Star > 0 || column.T != value.T {
		return true
	}
	w := within{high: math.MaxUint64}
	if had := s.within[column.Index]; had != nil {
		w = *had
	}
	if w.compare(op, value.Value) {
		if s.within == nil {
			s.within = map[int]*within{}
		}
		s.within[column.Index] = &w
	}
	return true
}

// harmless reports whether an expression never fails.
func harmless(e bind.Expr) bool {
	switch e := e.(type) {
	case *bind.Column, *bind.Const:
		return true
	case *bind.Apply:
		switch e.Func {
		case "AND", "OR", "NOT", "=", "<>", "<", "<=", ">", ">=", "IN", "IS NULL":
			return !slices.ContainsFunc(e.Args, func(a bind.Expr) bool { return !harmless(a) })
		case "LIKE":
			return len(e.Args) == 2 && harmless(e.Args[0]) && harmless(e.Args[1])
		}
	}
	return false
}

// compare narrows the bounds. It returns false if they cannot express the comparison.
func (w *within) compare(op string, value any) bool {
	var at uint64
	switch v := value.(type) {
	case string:
		if op != "=" || w.is && w.text != v {
			return false
		}
		w.text, w.is = v, true
		return true
	case int64:
		at = uint64(v) ^ 1<<63
	case float64:
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
