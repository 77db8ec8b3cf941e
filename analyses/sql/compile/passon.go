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
	column int // of the plan
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

// keyed is a key of the order while the plan is built: the column that has its values, and what is known of the value.
type keyed struct {
	column int
	of     int // number of the value, by which it is found among the columns of the answer
	field  plan.Field
	order  analyses.Order
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
		if s.uses[n] > 1 || slices.ContainsFunc(plan.Exprs(n), containsSubquery) {
			return nil
		}
		steps = append(steps, n)
	}
	l := s.byNode[n]
	if s.uses[n] > 1 || !l.apartFromOthers() {
		return nil
	}
	b := newPassBuilder(l, n)
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
	return b.finish(l, len(r.plan.Fields()))
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
	node    plan.Node
	columns []int  // number of the value that each column has
	has     []bool // columns that have values
	values  int    // numbers given out so far
	keys    []keyed
}

func newPassBuilder(l *leaf, n plan.Node) *passBuilder {
	b := &passBuilder{has: slices.Clone(l.needed)}
	from := &passedLeaf{leaf: l, out: slices.Clone(n.Fields())}
	b.node = from
	for range from.out {
		b.columns = append(b.columns, b.value())
	}
	if l.keep == keepGroups {
		b.has = nil
		for range from.out {
			b.has = append(b.has, true)
		}
		for i, f := range from.out[:len(l.groups.node.Keys)] {
			b.keys = append(b.keys, keyed{column: i, of: b.columns[i], field: f})
		}
		return b
	}
	place := plan.Field{Name: "place", Type: types.Of(types.Text)}
	b.keys = append(b.keys, keyed{column: len(from.out), of: b.value(), field: place})
	from.out, b.has, b.columns = append(from.out, place), append(b.has, true), append(b.columns, b.keys[0].of)
	return b
}

func (b *passBuilder) value() int {
	b.values++
	return b.values - 1
}

func column(i int, f plan.Field) plan.Expr {
	return plan.Typed(&plan.Column{Index: i, Name: f.Name}, f.Type, 0)
}

// project computes columns, and keeps the keys behind them.
func (b *passBuilder) project(n *plan.Project) {
	exprs, fields := slices.Clone(n.Exprs), slices.Clone(n.Fields())
	var columns []int
	for _, e := range exprs {
		if c, is := e.(*plan.Column); is {
			columns = append(columns, b.columns[c.Index])
		} else {
			columns = append(columns, b.value())
		}
	}
	for i := range b.keys {
		k := &b.keys[i]
		exprs, fields, columns = append(exprs, column(k.column, k.field)), append(fields, k.field), append(columns, k.of)
		k.column = len(exprs) - 1
	}
	b.become(exprs, fields, columns)
}

func (b *passBuilder) become(exprs []plan.Expr, fields []plan.Field, columns []int) {
	b.node = plan.Giving(&plan.Project{Input: b.node, Exprs: exprs}, fields)
	b.columns, b.has = columns, nil
	for range columns {
		b.has = append(b.has, true)
	}
}

// sort puts the keys of an order before those of the orders below it. Keys that are not columns are computed behind the columns.
func (b *passBuilder) sort(n *plan.Sort) {
	var exprs []plan.Expr
	fields, columns, has := slices.Clone(b.node.Fields()), slices.Clone(b.columns), slices.Clone(b.has)
	for i, f := range fields {
		if has[i] {
			exprs = append(exprs, column(i, f))
		} else {
			exprs = append(exprs, plan.Value(f.Type, 0, nil)) // nothing reads it
		}
	}
	var keys []keyed
	computes := false
	for _, o := range n.Keys {
		k := keyed{field: plan.Field{Name: "key", Type: o.X.Type()}, order: analyses.Order{Desc: o.Desc, NullsFirst: o.NullsFirst}}
		if c, is := o.X.(*plan.Column); is {
			k.column, k.of = c.Index, columns[c.Index]
		} else {
			computes = true
			k.column, k.of = len(exprs), b.value()
			exprs, fields, columns, has = append(exprs, o.X), append(fields, k.field), append(columns, k.of), append(has, true)
		}
		keys = append(keys, k)
	}
	if computes {
		b.become(exprs, fields, columns)
		b.has = has
	}
	b.keys = append(keys, b.keys...)
}

// finish returns the plan with the cells of a row: the keys, then the columns that are not among them.
func (b *passBuilder) finish(l *leaf, columns int) *passOn {
	l.unkept = true
	p := &passOn{leaf: l, plan: b.node}
	shown := make([]bool, columns)
	seen := map[int]bool{}
	for _, k := range b.keys {
		if seen[k.of] { // equal values do not order rows that an earlier key has not ordered
			continue
		}
		seen[k.of] = true
		k.order.Column = -1
		if sortedAsShown(k.field.Type.Kind) {
			if k.order.Column = slices.Index(b.columns[:columns], k.of); k.order.Column >= 0 {
				shown[k.order.Column] = true
			}
		}
		p.cells, p.order = append(p.cells, passedKey{k.column, k.field, true}), append(p.order, k.order)
	}
	for c, f := range b.node.Fields()[:columns] {
		if !shown[c] {
			p.cells, p.order = append(p.cells, passedKey{c, f, false}), append(p.order, analyses.Order{Column: c})
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
