package exec

import (
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// PassOn is how rows of a statement are passed on.
type PassOn struct {
	Leaf  *Leaf
	Plan  plan.Node   // makes of the leaf's rows the columns of the answer, and behind them the cells that are not shown
	Cells []PassedKey // of a row, in their order
	Order []analyses.Order
}

// PassedKey is a cell by which rows are sorted, or one that is only shown.
type PassedKey struct {
	Column int // its place in the rows of the plan
	Field  plan.Field
	Sorted bool
}

// PassedLeaf is the node that package operators reads in place of the leaf. It has the columns of the leaf's node and, if rows have
// positions, one for these.
type PassedLeaf struct {
	Leaf *Leaf
	Out  []plan.Field
}

func (n *PassedLeaf) Fields() []plan.Field { return n.Out }

// Rows makes rows of the answer of some rows of the leaf's table.
func (p *PassOn) Rows(s *Fragments, t *fold.Table, emit func(row ...any)) error {
	x := operators.New(passedSource{p.Leaf, t}, TailBytes, p.Plan)
	row := make([]any, len(p.Cells))
	err := x.Each(p.Plan, func(b *operators.Batch) error {
		for _, i := range b.Sel {
			for k, c := range p.Cells {
				row[k] = c.cell(b.Columns[c.Column], i)
			}
			emit(row...)
		}
		return nil
	})
	if err != nil {
		return s.located(err)
	}
	return nil
}

// cell returns the value of a row.
func (c *PassedKey) cell(v *eval.Vector, i int32) any {
	switch {
	case v.IsNull(i):
		return nil
	case !c.Sorted:
		return Cell(v, i, c.Field.Type)
	}
	switch v.Kind {
	case types.Double:
		f := v.Floats[i]
		switch {
		case f != f:
			return math.NaN() // the positive one, which is above infinity
		case f == 0:
			return 0.0
		}
		return f
	case types.Bool:
		return v.Bools[i]
	case types.Text:
		return v.Texts[i]
	}
	return v.Ints[i]
}

// passedSource gives package operators some rows of a leaf, in any order.
type passedSource struct {
	leaf *Leaf
	t    *fold.Table
}

func (p passedSource) Has(n plan.Node) bool {
	_, is := n.(*PassedLeaf)
	return is
}

func (p passedSource) Read(_ plan.Node, yield func(*operators.Batch) error) error {
	l, t := p.leaf, p.t
	if l.Keep == KeepGroups {
		return l.Groups.some(t, nil, t.Rows(), nil, yield)
	}
	place, row := t.KeyText, func(i int) []byte { return t.KeyText(i, 1) }
	if l.Keep == KeepDistinct {
		place, row = func(i, _ int) []byte { first, _ := t.MinText(i, 0); return first }, func(i int) []byte { return t.KeyText(i, 0) }
	}
	next := 0
	return l.rows(t, t.Len(), func(i int) ([]byte, error) { return row(i), nil }, func(r *operators.Batch) error {
		v := &eval.Vector{Kind: types.Text, Nulls: make([]uint64, r.N/64+1)}
		for i := range r.N {
			v.Texts = append(v.Texts, string(place(next+i, 0)))
		}
		next += r.N
		r.Columns = append(r.Columns, v)
		return yield(r)
	})
}
