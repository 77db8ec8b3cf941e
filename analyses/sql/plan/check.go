package plan

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses/sql/types"
)

// ErrColumns is wrapped by the error of Check about columns. Whoever made the plan is wrong, not the statement.
var ErrColumns = errors.New("E1 is broken: the columns of a plan")

// ErrTypes is wrapped by the error of Check about types.
var ErrTypes = errors.New("the types of a plan do not fit")

// Check reports whether each expression of a plan reads columns that the inputs of its node have, whether no node has two columns of one
// number, whether all operands have the types that operators, functions and nodes take, and whether tables give what is read
// of them. The plans of queries that are used as values are checked, too.
func Check(find func(name string) *types.Function, roots ...Node) error {
	c := checker{find: find, seen: map[Node]bool{}, typed: map[Expr]bool{}, types: map[ColumnID]types.Type{}}
	for _, n := range roots {
		c.node(n)
		c.whole(n)
	}
	return c.err
}

type checker struct {
	find   func(name string) *types.Function
	seen   map[Node]bool
	typed  map[Expr]bool // the expressions whose operands have been checked
	types  map[ColumnID]types.Type
	unread Set // columns of tables that Scans do not read
	err    error
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
	if c.err != nil {
		return
	}
	Walk(func(e Expr) {
		switch e := e.(type) {
		case *Column:
			if !given.Has(e.ID) || c.unread.Has(e.ID) {
				c.fail(ErrColumns, "%T reads column %d (%s), which its input has not", n, e.ID, e.Name)
			}
		case *Subquery:
			c.node(e.Plan)
			c.whole(e.Plan)
		}
		if !c.typed[e] && c.err == nil {
			c.typed[e] = true
			c.expr(e)
		}
	}, Exprs(n)...)
	if c.err == nil {
		c.shape(n)
	}
}

// whole checks that all columns of a node may be read.
func (c *checker) whole(n Node) {
	for _, f := range n.Fields() {
		if c.unread.Has(f.ID) {
			c.fail(ErrColumns, "%T has column %d (%s), which is not read", n, f.ID, f.Name)
		}
	}
}

// differ checks that the columns of a node, or of one of its inputs, have different numbers.
func (c *checker) differ(n Node, fields []Field) {
	var seen Set
	for _, f := range fields {
		if f.ID <= 0 || seen.Has(f.ID) {
			c.fail(ErrColumns, "%T has column %d (%s) twice, or without a number", n, f.ID, f.Name)
			return
		}
		seen.Add(f.ID)
		if t, known := c.types[f.ID]; known && t != f.Type {
			c.fail(ErrTypes, "column %d (%s) is %s and %s", f.ID, f.Name, t, f.Type)
		}
		c.types[f.ID] = f.Type
	}
}

func (c *checker) fail(is error, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: "+format, append([]any{is}, args...)...)
	}
}
