package eval

import (
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Member is X IN (a query) after the query's rows are known. The executor of a plan puts it into expressions. For each row in
// sel, Test sets whether the value of x is among the query's rows. Like any expression, it is computed only where its value
// is needed.
type Member struct {
	X    plan.Expr
	At   syntax.Pos
	Test func(x *Vector, sel []int32, out *Vector)
}

func (m *Member) Type() types.Type { return types.Of(types.Bool) }
func (m *Member) Pos() syntax.Pos  { return m.At }

type member struct {
	x    node
	test func(x *Vector, sel []int32, out *Vector)
	out  Vector
}

func (k *member) eval(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	k.out.reset(b.n)
	k.test(x, sel, &k.out)
	return &k.out, nil
}
