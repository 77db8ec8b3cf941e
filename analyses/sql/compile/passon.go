package compile

import (
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// The reducer passes on the rows of a statement, and keeps none of them, if each row of the answer is made of one row of a leaf: above the
// leaf are only filters, projections and orders. The outputs then sort the rows (analyses.Query.Rows), so the answer may have any length. A
// row has cells for the keys of all orders, the outermost first, and for the place of the leaf's row: the keys of a group, or a position.
// So its place is unique, and the answer is the same as that of package tail over all rows.

// passOn is how rows of a statement are passed on.
type passOn struct {
	leaf  *leaf
	plan  plan.Node   // makes of the leaf's rows the columns of the answer, and behind them the cells that are not shown
	cells []passedKey // of a row, in their order
	order []analyses.Order
}

// passedKey is a cell by which rows are sorted, or one that is only shown.
type passedKey struct {
	column int // its place in the rows of the plan
	field  plan.Field
	sorted bool
}

// passedLeaf is the node that package tail reads in place of the leaf. It has the columns of the leaf's node and, if rows have positions,
// one for these.
type passedLeaf struct {
	leaf *leaf
	out  []plan.Field
}

func (n *passedLeaf) Fields() []plan.Field { return n.out }

// keyed is a key of the order while the plan is built: the column that has its values, and the number of the value.
type keyed struct {
	field plan.Field
	of    int
	order analyses.Order
}

// passesOn returns how the rows of a statement are passed on, nil if they cannot be. It marks the leaf.
func (s *statement) passesOn(r *root) *passOn {
	if r.pass {
		return nil
	}
	var steps []plan.Node // from the answer down
	n := r.plan
	for ; s.byNode[n] == nil; n = plan.Inputs(n)[0] {
		switch n.(type) {
		case *plan.Filter, *plan.Project, *plan.Sort:
		default:
			return nil
		}
		if s.Uses()[n] > 1 || slices.ContainsFunc(plan.Exprs(n), containsSubquery) {
			return nil
		}
		steps = append(steps, n)
	}
	l := s.byNode[n]
	if s.Uses()[n] > 1 || !l.apartFromOthers() {
		return nil
	}
	b := newPassBuilder(s.ids, l, n)
	for _, n := range slices.Backward(steps) {
		switch n := n.(type) {
		case *plan.Filter:
			b.node = &plan.Filter{Input: b.node, Cond: n.Cond}
		case *plan.Project:
			b.project(n)
		case *plan.Sort:
			if slices.ContainsFunc(n.Keys, func(o plan.Order) bool { return !ordered(o.X.Type().Kind) }) {
				return nil
			}
			b.sort(n)
		}
	}
	return b.finish(l, r.plan.Fields())
}

// apartFromOthers reports whether each row of the leaf is complete when the reducer gets it, and tells its place.
func (l *leaf) apartFromOthers() bool {
	switch l.keep {
	case keepGroups: // the groups of a region may be in several aggregators, and so may DISTINCT values of one group
		return l.region == nil && !l.groups.apart() && len(l.groups.node.Keys) > 0
	case keepRows:
		return true
	case keepDistinct:
		return l.region == nil
	}
	return false
}

// passBuilder builds the plan of a passOn from the leaf upward.
type passBuilder struct {
	ids    *plan.IDs
	node   plan.Node
	value  map[plan.ColumnID]int // number of the value that each column has; columns without values are not here
	values int                   // numbers given out so far
	keys   []keyed
}

func newPassBuilder(ids *plan.IDs, l *leaf, n plan.Node) *passBuilder {
	from := &passedLeaf{leaf: l, out: slices.Clone(n.Fields())}
	b := &passBuilder{ids: ids, node: from, value: map[plan.ColumnID]int{}}
	for i, f := range from.out {
		if l.keep == keepGroups || l.needed[i] {
			b.has(f)
		}
	}
	if l.keep == keepGroups {
		for _, f := range from.out[:len(l.groups.node.Keys)] {
			b.keys = append(b.keys, keyed{field: f, of: b.value[f.ID]})
		}
		return b
	}
	place := ids.Field("place", types.Of(types.Text))
	from.out = append(from.out, place)
	b.keys = append(b.keys, keyed{field: place, of: b.has(place)})
	return b
}

// has gives a column a value of its own.
func (b *passBuilder) has(f plan.Field) int {
	b.value[f.ID] = b.values
	b.values++
	return b.value[f.ID]
}

// project computes columns, and keeps the keys behind them.
func (b *passBuilder) project(n *plan.Project) {
	p := &plan.Project{Input: b.node, Exprs: slices.Clone(n.Exprs), Out: slices.Clone(n.Out)}
	for i, e := range n.Exprs {
		if c, is := e.(*plan.Column); is {
			b.value[n.Out[i].ID] = b.value[c.ID]
		} else {
			b.has(n.Out[i])
		}
	}
	kept := plan.SetOf(p.Out)
	for _, k := range b.keys {
		if !kept.Has(k.field.ID) {
			kept.Add(k.field.ID)
			p.Exprs, p.Out = append(p.Exprs, k.field.Ref(0)), append(p.Out, k.field)
		}
	}
	b.node = p
}

// sort puts the keys of an order before those of the orders below it. Keys that are not columns are computed behind the columns.
func (b *passBuilder) sort(n *plan.Sort) {
	p := &plan.Project{Input: b.node}
	for _, f := range b.node.Fields() {
		if _, has := b.value[f.ID]; has {
			p.Exprs, p.Out = append(p.Exprs, f.Ref(0)), append(p.Out, f)
		}
	}
	var keys []keyed
	computes := false
	for _, o := range n.Keys {
		k := keyed{order: analyses.Order{Desc: o.Desc, NullsFirst: o.NullsFirst}}
		if c, is := o.X.(*plan.Column); is {
			k.field, k.of = plan.Field{ID: c.ID, Name: "key", Type: c.T}, b.value[c.ID]
		} else {
			computes = true
			k.field = b.ids.Field("key", o.X.Type())
			k.of = b.has(k.field)
			p.Exprs, p.Out = append(p.Exprs, o.X), append(p.Out, k.field)
		}
		keys = append(keys, k)
	}
	if computes {
		b.node = p
	}
	b.keys = append(keys, b.keys...)
}

// finish returns the plan with the cells of a row: the keys, then the columns of the answer that are not among them.
func (b *passBuilder) finish(l *leaf, columns []plan.Field) *passOn {
	l.unkept = true
	p, at := &passOn{leaf: l, plan: b.node}, plan.LayoutOf(b.node.Fields())
	shown := make([]bool, len(columns))
	seen := map[int]bool{}
	for _, k := range b.keys {
		if seen[k.of] { // equal values do not order rows that an earlier key has not ordered
			continue
		}
		seen[k.of] = true
		k.order.Column = -1
		if sortedAsShown(k.field.Type.Kind) {
			k.order.Column = slices.IndexFunc(columns, func(f plan.Field) bool { return b.value[f.ID] == k.of })
			if k.order.Column >= 0 {
				shown[k.order.Column] = true
			}
		}
		p.cells, p.order = append(p.cells, passedKey{at[k.field.ID], k.field, true}), append(p.order, k.order)
	}
	for c, f := range columns {
		if !shown[c] {
			p.cells, p.order = append(p.cells, passedKey{at[f.ID], f, false}), append(p.order, analyses.Order{Column: c})
		}
	}
	return p
}

// sortedAsShown reports whether the cells of an answer are in the order of the values. Those of other kinds are texts. DOUBLEs have two
// zeros and several NaNs, which are equal in an order.
func sortedAsShown(k types.Kind) bool { return k == types.BigInt || k == types.Bool || k == types.Text }

// rows makes rows of the answer of some rows of the leaf's table.
func (p *passOn) rows(s *statement, t *fold.Table, emit func(row ...any)) error {
	x := tail.New(passedSource{p.leaf, t}, TailBytes, p.plan)
	row := make([]any, len(p.cells))
	err := x.Each(p.plan, func(r *tail.Rows, sel []int32) error {
		for _, i := range sel {
			for k, c := range p.cells {
				row[k] = c.cell(r.Columns[c.column], i)
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
func (c *passedKey) cell(v *eval.Vector, i int32) any {
	switch {
	case v.IsNull(i):
		return nil
	case !c.sorted:
		return Cell(v, i, c.field.Type)
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

// passedSource gives package tail some rows of a leaf, in any order.
type passedSource struct {
	leaf *leaf
	t    *fold.Table
}

func (p passedSource) Has(n plan.Node) bool {
	_, is := n.(*passedLeaf)
	return is
}

func (p passedSource) Read(_ plan.Node, yield func(*tail.Rows) error) error {
	l, t := p.leaf, p.t
	if l.keep == keepGroups {
		return l.groups.some(t, nil, t.Rows(), yield)
	}
	place, row := t.KeyText, func(i int) []byte { return t.KeyText(i, 1) }
	if l.keep == keepDistinct {
		place, row = func(i, _ int) []byte { first, _ := t.MinText(i, 0); return first }, func(i int) []byte { return t.KeyText(i, 0) }
	}
	next := 0
	return l.rows(t, t.Len(), func(i int) ([]byte, error) { return row(i), nil }, func(r *tail.Rows) error {
		v := &eval.Vector{Kind: types.Text, Nulls: make([]uint64, r.N/64+1)}
		for i := range r.N {
			v.Texts = append(v.Texts, string(place(next+i, 0)))
		}
		next += r.N
		r.Columns = append(r.Columns, v)
		return yield(r)
	})
}
