package plan

import (
	"errors"
	"fmt"
)

// ErrColumns is wrapped by the error of Check. Whoever made the plan is wrong, not the statement.
var ErrColumns = errors.New("E1 is broken: the columns of a plan")

// Check reports whether each expression of a plan reads columns that the inputs of its node have, and whether no node has two columns
// of one number. The plans of queries that are used as values are checked, too.
func Check(roots ...Node) error {
	c := checker{seen: map[Node]bool{}}
	for _, n := range roots {
		c.node(n)
	}
	return c.err
}

type checker struct {
	seen map[Node]bool
	err  error
}

func (c *checker) node(n Node) {
	if c.seen[n] || c.err != nil {
		return
	}
	c.seen[n] = true
	var given Set
	for _, in := range Inputs(n) {
		c.node(in)
		c.differ(n, in.Fields())
		for _, f := range in.Fields() {
			given.Add(f.ID)
		}
	}
	c.differ(n, n.Fields())
	Walk(func(e Expr) {
		switch e := e.(type) {
		case *Column:
			if !given.Has(e.ID) {
				c.fail("%T reads column %d (%s), which its input has not", n, e.ID, e.Name)
			}
		case *Subquery:
			c.node(e.Plan)
		}
	}, Exprs(n)...)
}

// differ checks that the columns of a node, or of one of its inputs, have different numbers.
func (c *checker) differ(n Node, fields []Field) {
	var seen Set
	for _, f := range fields {
		if f.ID <= 0 || seen.Has(f.ID) {
			c.fail("%T has column %d (%s) twice, or without a number", n, f.ID, f.Name)
			return
		}
		seen.Add(f.ID)
	}
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: "+format, append([]any{ErrColumns}, args...)...)
	}
}
