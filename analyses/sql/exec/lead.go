package exec

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
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
	Cond   plan.Expr
}

// Lead finds the conditions with which the leaves begin.
func (s *Fragments) Lead() {
	number := plan.Numbers()
	for _, l := range s.Leaves {
		l.Leading, l.led = nil, 0
		for _, n := range l.Steps {
			f, ok := n.(*plan.Filter)
			if !ok || !plan.Pushable(f.Cond) {
				break
			}
			for _, part := range separate(f.Cond) {
				l.Leading = append(l.Leading, leading{number(l.ByPlace(part)), part})
			}
			l.led++
		}
	}
}

// ByPlace returns an expression over the rows of the leaf's table in which a column's number is its place in the table. So leaves of one
// table can be compared.
func (l *Leaf) ByPlace(e plan.Expr) plan.Expr {
	by := map[plan.ColumnID]plan.Expr{}
	for i, f := range l.From.Fields() {
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

// LedTo is a leading condition behind others, as one goroutine computes it.
type LedTo struct {
	Behind *LedTo // the condition before it; nil if it is the first
	By     *eval.Program
	slice  uint64 // the slice that sel is about
	Sel    []int32
}

// ledBy identifies a condition. Streams need not be told apart, because a slice is of one stream.
type ledBy struct {
	behind *LedTo
	number int
}

// follow makes the worker begin with the conditions of its leaf, which it shares with the joiner's other workers.
func (j *Joiner) follow(w *worker) error {
	if j.Conditions == nil {
		j.Conditions = map[ledBy]*LedTo{}
	}
	for _, l := range w.Leading {
		at := ledBy{w.last, l.number}
		c := j.Conditions[at]
		if c == nil {
			by, err := eval.CompileFor(l.Cond, plan.LayoutOf(w.From.Fields()), j.meter)
			if err != nil {
				return err
			}
			c = &LedTo{Behind: w.last, By: by}
			j.Conditions[at] = c
		}
		w.last = c
	}
	return nil
}

// Passed returns the rows of a slice that fulfil the condition and those before it. The slice number is not 0. The result is valid until
// the next slice, and must not be changed.
func (c *LedTo) Passed(slice uint64, columns []*eval.Vector, n int) ([]int32, error) {
	if c.slice == slice {
		return c.Sel, nil
	}
	if c.Behind == nil {
		c.Sel = everyRow(c.Sel, n)
	} else {
		before, err := c.Behind.Passed(slice, columns, n)
		if err != nil {
			return nil, err
		}
		c.Sel = append(c.Sel[:0], before...)
	}
	if len(c.Sel) > 0 {
		kept := c.Sel[:0]
		err := eval.Pieces(c.Sel, func(sel []int32) error {
			v, err := c.By.Run(columns, n, sel)
			if err == nil {
				kept = operators.Passing(kept, v, sel)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		c.Sel = kept
	}
	c.slice = slice
	return c.Sel, nil
}
