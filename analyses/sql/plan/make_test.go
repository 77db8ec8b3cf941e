package plan

import (
	"testing"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Plans that another package makes equal those of Bind in types and columns, and rewriting keeps shared parts shared.
func TestQ1_PlansCanBeMadeElsewhere(t *testing.T) {
	c := Typed(&Column{Index: 2, Name: "a"}, types.Of(types.BigInt), 7)
	if c.Type() != types.Of(types.BigInt) || c.Pos() != 7 {
		t.Error(c.Type(), c.Pos())
	}
	n := Giving(&Project{Input: &Inline{}, Exprs: []Expr{c}}, []Field{{"a", c.Type()}})
	if n.Fields()[0].Name != "a" || len(Inputs(n)) != 1 || Exprs(n)[0] != Expr(c) {
		t.Error(n.Fields(), Inputs(n), Exprs(n))
	}
	sum := Typed(&Apply{Func: "+", Args: []Expr{c, c}}, c.Type(), 0)
	moved := Rewrite(func(e Expr) (Expr, bool) {
		if c, ok := e.(*Column); ok {
			return Typed(&Column{Index: c.Index + 1}, c.Type(), c.Pos()), true
		}
		return nil, false
	})(sum)
	args := Children(moved)
	if args[0] != args[1] || args[0].(*Column).Index != 3 {
		t.Error(args[0])
	}
	for _, n := range []Node{&Join{Kind: syntax.Inner, L: n, R: n}, &SetOp{L: n, R: n}} {
		if len(Inputs(n)) != 2 {
			t.Errorf("%T", n)
		}
	}
}
