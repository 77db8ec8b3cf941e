package plan

import (
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Typed sets the type and the position of an expression that another package has made.
func Typed[E interface {
	Expr
	typed(types.Type, syntax.Pos)
}](e E, t types.Type, at syntax.Pos) E {
	e.typed(t, at)
	return e
}

func (b *Base) typed(t types.Type, at syntax.Pos) { b.T, b.At = t, at }

// Call returns an operator or a function of args.
func Call(t types.Type, at syntax.Pos, name string, args ...Expr) *Apply {
	return &Apply{Base{t, at}, name, args}
}

// Value returns a constant.
func Value(t types.Type, at syntax.Pos, value any) *Const {
	return &Const{Base: Base{t, at}, Value: value}
}

// Rewrite returns a function that replaces parts of expressions. replace returns the replacement of an expression, or false
// to rewrite the parts below it. The function remembers what it has rewritten, so shared parts stay shared.
func Rewrite(replace func(Expr) (Expr, bool)) func(Expr) Expr {
	return NewRewriter(replace).Expr
}

// Walk visits expressions and their parts, each once.
func Walk(visit func(Expr), exprs ...Expr) {
	seen := map[Expr]bool{}
	for _, e := range exprs {
		each(e, seen, visit)
	}
}

// each visits an expression and its parts, but none of those that were seen.
func each(e Expr, seen map[Expr]bool, visit func(Expr)) {
	if e == nil || seen[e] {
		return
	}
	seen[e] = true
	visit(e)
	for _, part := range Children(e) {
		each(part, seen, visit)
	}
}

// Inputs returns the nodes directly below n.
func Inputs(n Node) []Node {
	switch n := n.(type) {
	case *Join:
		return []Node{n.L, n.R}
	case *SetOp:
		return []Node{n.L, n.R}
	case *Filter:
		return []Node{n.Input}
	case *Aggregation:
		return []Node{n.Input}
	case *Windows:
		return []Node{n.Input}
	case *Unnest:
		return []Node{n.Input}
	case *Project:
		return []Node{n.Input}
	case *Distinct:
		return []Node{n.Input}
	case *Sort:
		return []Node{n.Input}
	case *Limit:
		return []Node{n.Input}
	}
	return nil
}

// Exprs returns the expressions of a node.
func Exprs(n Node) (list []Expr) {
	switch n := n.(type) {
	case *Inline:
		for _, row := range n.Rows {
			list = append(list, row...)
		}
	case *Join:
		for _, p := range n.Equal {
			list = append(list, p[0], p[1])
		}
		if n.Rest != nil {
			list = append(list, n.Rest)
		}
	case *Filter:
		list = append(list, n.Cond)
	case *Aggregation:
		list = append(list, n.Keys...)
		for _, a := range n.Aggs {
			list = append(list, a)
		}
	case *Windows:
		for _, c := range n.Calls {
			list = append(list, c)
		}
	case *Unnest:
		list = append(list, n.Lists...)
	case *Project:
		list = append(list, n.Exprs...)
	case *Distinct:
		list = append(list, n.On...)
	case *Sort:
		list = append(list, OrderExprs(n.Keys)...)
	}
	return list
}

// Substitute replaces columns by expressions. Columns that are not among them stay.
func Substitute(e Expr, by map[ColumnID]Expr) Expr {
	if len(by) == 0 {
		return e
	}
	return Rewrite(func(e Expr) (Expr, bool) {
		c, ok := e.(*Column)
		if !ok {
			return nil, false
		}
		to, found := by[c.ID]
		if !found {
			return c, true
		}
		return to, true
	})(e)
}

// Columns returns what the columns of a projection stand for, as Substitute takes it.
func (n *Project) Columns() map[ColumnID]Expr {
	by := make(map[ColumnID]Expr, len(n.Out))
	for i, f := range n.Out {
		by[f.ID] = n.Exprs[i]
	}
	return by
}

// HasColumn reports whether an expression reads a column.
func HasColumn(e Expr) bool {
	return Find(e, func(e Expr) bool { _, ok := e.(*Column); return ok }, nil) != nil
}
