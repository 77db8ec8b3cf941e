package compile

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Most leaves begin with conditions on the rows of their table. Leaves of one stream often begin with the same ones, such as those of a
// view that all statements of a session read. These conditions are computed once for all leaves, one after the other, each for the rows
// that have passed the former ones.
//
// Only conditions that cannot fail are computed this way. So it changes no answer that one is computed for rows that a leaf does without
// (analyses.Missing), or that the next one is not computed for a row for which one is NULL.

// leading is a condition with which a leaf begins. Equal conditions of a statement's leaves have equal numbers.
type leading struct {
	number int
	cond   plan.Expr
}

// lead finds the conditions with which the leaves begin.
func (s *statement) lead() {
	number := plan.Numbers()
	for _, l := range s.leaves {
		l.leading, l.led = nil, 0
		for _, n := range l.steps {
			f, ok := n.(*plan.Filter)
			if !ok || !plan.Pushable(f.Cond) {
				break
			}
			for _, part := range separate(f.Cond) {
				l.leading = append(l.leading, leading{number(l.byPlace(part)), part})
			}
			l.led++
		}
	}
}

// byPlace returns an expression over the rows of the leaf's table in which a column's number is its place in the table. So leaves of one
// table can be compared.
func (l *leaf) byPlace(e plan.Expr) plan.Expr {
	by := map[plan.ColumnID]plan.Expr{}
	for i, f := range l.from.Fields() {
		by[f.ID] = plan.Typed(&plan.Column{ID: plan.ColumnID(-1 - i)}, f.Type, 0)
	}
	return plan.Substitute(e, by)
}

// separate divides a condition into parts, all of which must be true. Parts that have a computation in common stay together, so that it is
// not done twice, and so do neighbours that read the same column of texts, because they are computed together for each entry of a
// dictionary.
func separate(cond plan.Expr) (parts []plan.Expr) {
	users := map[plan.Expr]int{} // by computation, the last part that does it
	last := noText
	for _, part := range plan.Conjuncts(cond) {
		seen := map[plan.Expr]bool{}
		common := false
		var visit func(e plan.Expr)
		visit = func(e plan.Expr) {
			if seen[e] || len(plan.Children(e)) == 0 {
				return
			}
			seen[e] = true
			_, used := users[e]
			common = common || used
			users[e] = len(parts)
			for _, c := range plan.Children(e) {
				visit(c)
			}
		}
		if visit(part); common {
			return []plan.Expr{cond}
		}
		text := onlyText(part)
		if text != noText && text == last {
			parts[len(parts)-1] = plan.And(parts[len(parts)-1], part)
			continue
		}
		parts, last = append(parts, part), text
	}
	return parts
}

const noText plan.ColumnID = 0

// onlyText returns the column of texts that an expression reads, noText if it reads anything else.
func onlyText(e plan.Expr) plan.ColumnID {
	column, seen := noText, map[plan.Expr]bool{}
	var reads func(e plan.Expr) bool
	reads = func(e plan.Expr) bool {
		if seen[e] {
			return true
		}
		seen[e] = true
		if c, ok := e.(*plan.Column); ok {
			if c.T.Kind != types.Text || column != noText && column != c.ID {
				return false
			}
			column = c.ID
		}
		for _, c := range plan.Children(e) {
			if !reads(c) {
				return false
			}
		}
		return true
	}
	if !reads(e) {
		return noText
	}
	return column
}

// ledTo is a leading condition behind others, as one goroutine computes it.
type ledTo struct {
	behind *ledTo // the condition before it; nil if it is the first
	by     *eval.Program
	slice  uint64 // the slice that sel is about
	sel    []int32
}

// ledBy identifies a condition. Streams need not be told apart, because a slice is of one stream.
type ledBy struct {
	behind *ledTo
	number int
}

// follow makes the worker begin with the conditions of its leaf, which it shares with the joiner's other workers.
func (j *joiner) follow(w *worker) error {
	if j.conditions == nil {
		j.conditions = map[ledBy]*ledTo{}
	}
	for _, l := range w.leading {
		at := ledBy{w.last, l.number}
		c := j.conditions[at]
		if c == nil {
			by, err := eval.CompileFor(l.cond, plan.LayoutOf(w.from.Fields()), j.meter)
			if err != nil {
				return err
			}
			c = &ledTo{behind: w.last, by: by}
			j.conditions[at] = c
		}
		w.last = c
	}
	return nil
}

// passed returns the rows of a slice that fulfil the condition and those before it. The slice number is not 0. The result is valid until
// the next slice, and must not be changed.
func (c *ledTo) passed(slice uint64, columns []*eval.Vector, n int) ([]int32, error) {
	if c.slice == slice {
		return c.sel, nil
	}
	if c.behind == nil {
		c.sel = everyRow(c.sel, n)
	} else {
		before, err := c.behind.passed(slice, columns, n)
		if err != nil {
			return nil, err
		}
		c.sel = append(c.sel[:0], before...)
	}
	if len(c.sel) > 0 {
		kept := c.sel[:0]
		err := eval.Pieces(c.sel, func(sel []int32) error {
			v, err := c.by.Run(columns, n, sel)
			if err == nil {
				kept = append(kept, passing(v, sel)...)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		c.sel = kept
	}
	c.slice = slice
	return c.sel, nil
}
