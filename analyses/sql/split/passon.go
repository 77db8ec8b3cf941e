package split

import (
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// The reducer passes on the rows of a statement, and keeps none of them, if each row of the answer is made of one row of a leaf: above the
// leaf are only filters, projections and orders. The outputs then sort the rows (analyses.Query.Rows), so the answer may have any length. A
// row has cells for the keys of all orders, the outermost first, and for the place of the leaf's row: the keys of a group, or a position.
// So its place is unique, and the answer is the same as that of package operators over all rows.

// keyed is a key of the order while the plan is built: the column that has its values, and the number of the value.
type keyed struct {
	field plan.Field
	of    int
	order analyses.Order
}

// passesOn returns how the rows of a statement are passed on, nil if they cannot be. It marks the leaf.
func (s *statement) passesOn(r *exec.Root) *exec.PassOn {
	if r.Pass {
		return nil
	}
	var steps []plan.Node // from the answer down
	n := r.Plan
	for ; s.ByNode[n] == nil; n = plan.Inputs(n)[0] {
		switch n.(type) {
		case *plan.Filter, *plan.Project, *plan.Sort:
		default:
			return nil
		}
		if s.Uses()[n] > 1 || slices.ContainsFunc(plan.Exprs(n), exec.ContainsSubquery) {
			return nil
		}
		steps = append(steps, n)
	}
	l := s.ByNode[n]
	if s.Uses()[n] > 1 || !apartFromOthers(l) {
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
			if slices.ContainsFunc(n.Keys, func(o plan.Order) bool { return !values.Ordered(o.X.Type().Kind) }) {
				return nil
			}
			b.sort(n)
		}
	}
	return b.finish(l, r.Plan.Fields())
}

// apartFromOthers reports whether each row of the leaf is complete when the reducer gets it, and tells its place.
func apartFromOthers(l *exec.Leaf) bool {
	switch l.Keep {
	case exec.KeepGroups: // the groups of a region may be in several aggregators, and so may DISTINCT values of one group
		return l.Region == nil && !l.Groups.Apart() && len(l.Groups.Node.Keys) > 0
	case exec.KeepRows:
		return true
	case exec.KeepDistinct:
		return l.Region == nil
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

func newPassBuilder(ids *plan.IDs, l *exec.Leaf, n plan.Node) *passBuilder {
	from := &exec.PassedLeaf{Leaf: l, Out: slices.Clone(n.Fields())}
	b := &passBuilder{ids: ids, node: from, value: map[plan.ColumnID]int{}}
	for i, f := range from.Out {
		if l.Keep == exec.KeepGroups || l.Needed[i] {
			b.has(f)
		}
	}
	if l.Keep == exec.KeepGroups {
		for _, f := range from.Out[:len(l.Groups.Node.Keys)] {
			b.keys = append(b.keys, keyed{field: f, of: b.value[f.ID]})
		}
		return b
	}
	place := ids.Field("place", types.Of(types.Text))
	from.Out = append(from.Out, place)
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
func (b *passBuilder) finish(l *exec.Leaf, columns []plan.Field) *exec.PassOn {
	l.Unkept = true
	p, at := &exec.PassOn{Leaf: l, Plan: b.node}, plan.LayoutOf(b.node.Fields())
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
		p.Cells, p.Order = append(p.Cells, exec.PassedKey{Column: at[k.field.ID], Field: k.field, Sorted: true}), append(p.Order, k.order)
	}
	for c, f := range columns {
		if !shown[c] {
			p.Cells, p.Order = append(p.Cells, exec.PassedKey{Column: at[f.ID], Field: f, Sorted: false}), append(p.Order, analyses.Order{Column: c})
		}
	}
	return p
}

// sortedAsShown reports whether the cells of an answer are in the order of the values. Those of other kinds are texts. DOUBLEs have two
// zeros and several NaNs, which are equal in an order.
func sortedAsShown(k types.Kind) bool { return k == types.BigInt || k == types.Bool || k == types.Text }
