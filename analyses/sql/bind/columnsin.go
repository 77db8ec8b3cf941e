package bind

import "posta.dev/posta/analyses/sql/syntax"

// columnsIn returns the names of the columns that are operands or arguments of an expression, for errors about their types.
func columnsIn(x syntax.Expr) (names []string) {
	var of []syntax.Expr
	switch x := x.(type) {
	case *syntax.Call:
		of = x.Args
	case *syntax.Binary:
		of = []syntax.Expr{x.L, x.R}
	case *syntax.Unary:
		of = []syntax.Expr{x.X}
	case *syntax.Between:
		of = []syntax.Expr{x.X, x.Lo, x.Hi}
	case *syntax.In:
		of = append([]syntax.Expr{x.X}, x.List...)
	}
	for _, o := range of {
		if c, is := o.(*syntax.Column); is {
			names = append(names, c.Name)
		}
	}
	return names
}
