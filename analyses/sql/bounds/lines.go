package bounds

import (
	"slices"

	"posta.dev/posta/analyses/sql/plan"
)

// Lines is a condition on the place of a row: the columns _file and _line.
type Lines struct {
	Cond       plan.Expr
	File, Line plan.ColumnID
}

// Of returns the lines of a file that may fulfil the condition, in ascending order. all is true if that may be any line.
func (l Lines) Of(file string) (lines []uint64, all bool) {
	lines, all, _ = l.of(l.Cond, file)
	return lines, all
}

// of is Of for a part of the condition. more is false if the part may fail: then what stands behind it must not exclude rows.
func (l Lines) of(e plan.Expr, file string) (lines []uint64, all, more bool) {
	a, ok := e.(*plan.Apply)
	if ok && a.Func == "AND" && len(a.Args) == 2 {
		left, all, more := l.of(a.Args[0], file)
		if !more {
			return left, all, false
		}
		right, also, more := l.of(a.Args[1], file)
		switch {
		case all:
			return right, also, more
		case also:
			return left, false, more
		}
		return slices.DeleteFunc(left, func(n uint64) bool { _, is := slices.BinarySearch(right, n); return !is }), false, more
	}
	if !harmless(e) {
		return nil, true, false
	}
	if c, constant := e.(*plan.Const); constant && c.Value != true {
		return nil, false, true
	}
	if ok && a.Func == "OR" && len(a.Args) == 2 {
		left, all, _ := l.of(a.Args[0], file)
		right, also, _ := l.of(a.Args[1], file)
		if all || also {
			return nil, true, true
		}
		left = append(left, right...)
		slices.Sort(left)
		return slices.Compact(left), false, true
	}
	column, values, ok := oneOf(e)
	switch {
	case ok && column.ID == l.File:
		return nil, slices.ContainsFunc(values, func(c *plan.Const) bool { return c.Value == file }), true
	case ok && column.ID == l.Line:
		return numbers(values)
	}
	return nil, true, true
}

// numbers returns line numbers. all is true if a value is none.
func numbers(values []*plan.Const) (lines []uint64, all, more bool) {
	for _, c := range values {
		n, whole := c.Value.(int64)
		switch {
		case c.Value == nil:
		case !whole || c.T.Scale > 0:
			return nil, true, true
		case n > 0:
			lines = append(lines, uint64(n))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines), false, true
}
