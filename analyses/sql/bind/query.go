package bind

import (
	"fmt"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// query binds a query. outer is the scope of the query around it, if it is used as a value.
func (b *binder) query(q *syntax.Query, outer *scope, c *ctes) plan.Node {
	for i, w := range q.With {
		for _, v := range q.With[:i] {
			if equalFold(v.Name.Name, w.Name.Name) {
				b.fail(w.Name.At, fmt.Sprintf("WITH has two queries %s", w.Name.Name), "")
			}
		}
		c = &ctes{name: w.Name.Name, columns: w.Columns, query: w.Query, scope: c, outer: c}
		b.cte(c) // bind unused queries, too, to find their errors
	}
	n := b.body(q.Body, q, outer, c)
	if q.Limit == nil && q.Offset == nil {
		return n
	}
	limit := &plan.Limit{Input: n, Count: b.count(q.Limit, -1, "LIMIT"), Offset: b.count(q.Offset, 0, "OFFSET")}
	if limit.Count == 0 {
		return &plan.Inline{Out: n.Fields()} // read nothing, and compute nothing that could fail
	}
	return limit
}

// body binds a body. q is the query whose ORDER BY belongs to it.
func (b *binder) body(body syntax.Body, q *syntax.Query, outer *scope, c *ctes) plan.Node {
	var n plan.Node
	switch x := body.(type) {
	case *syntax.Select:
		return b.bindSelect(x, q, outer, c)
	case *syntax.Query:
		n = b.query(x, outer, c)
	case *syntax.Values:
		n = b.values(x, outer, c)
	case *syntax.SetOp:
		n = b.setOp(x, outer, c)
	}
	if len(q.OrderBy) == 0 {
		return n
	}
	return &plan.Sort{Input: n, Keys: b.orderOutput(q, n.Fields())}
}

// count binds LIMIT and OFFSET, which must be literal whole numbers.
func (b *binder) count(x syntax.Expr, without int64, clause string) int64 {
	if x == nil {
		return without
	}
	e := b.to(b.literalAs(b.expr(x, &scope{}), types.Of(types.BigInt)), types.Of(types.BigInt))
	c, ok := e.(*plan.Const)
	n, whole := int64(0), false
	if ok && c.T.Kind == types.BigInt {
		n, whole = c.Value.(int64)
	}
	if !whole || n < 0 {
		b.fail(x.Pos(), clause+" needs a whole number from 0 on", "")
	}
	return n
}

// orderOutput binds the ORDER BY of a body other than a SELECT: it takes positions and names of columns.
func (b *binder) orderOutput(q *syntax.Query, fields []plan.Field) (orders []plan.Order) {
	column := func(i int, o syntax.OrderItem, at syntax.Pos) plan.Order {
		return plan.Order{X: fields[i].Ref(at), Desc: o.Desc, NullsFirst: o.NullsFirst}
	}
	if q.OrderAll {
		for i := range fields {
			orders = append(orders, column(i, q.OrderBy[0], q.At))
		}
		return orders
	}
	s := &selection{binder: b}
	b.withItems(make([]selectItem, len(fields)), func() {
		for _, o := range q.OrderBy {
			i, ok := s.position(o.X)
			if c, isColumn := o.X.(*syntax.Column); isColumn && !ok {
				var names []string
				for j, f := range fields {
					if equalFold(f.Name, c.Name) && c.Table == "" && !ok {
						i, ok = j, true
					}
					names = append(names, f.Name)
				}
				if !ok {
					b.fail(c.At, fmt.Sprintf("there is no column %s", c.Name), didYouMean(c.Name, names))
				}
			}
			if !ok {
				b.fail(o.X.Pos(), "only columns can be ordered by here, by name or position",
					"Put the query into FROM: SELECT * FROM (…) ORDER BY ….")
			}
			orders = append(orders, column(i, o, o.X.Pos()))
		}
	})
	return orders
}

// withItems makes positions refer to these items while do runs.
func (b *binder) withItems(items []selectItem, do func()) {
	defer func(before []selectItem) { b.items = before }(b.items)
	b.items = items
	do()
}

// values binds VALUES. The columns of all rows have one type.
func (b *binder) values(v *syntax.Values, outer *scope, c *ctes) plan.Node {
	n := &plan.Inline{Rows: make([][]plan.Expr, len(v.Rows))}
	s := &scope{outer: outer, ctes: c}
	b.withItems(nil, func() {
		for i, row := range v.Rows {
			for _, x := range row {
				n.Rows[i] = append(n.Rows[i], b.plain(x, s, "VALUES"))
			}
		}
	})
	for j := range v.Rows[0] {
		column := make([]plan.Expr, len(v.Rows))
		for i := range n.Rows {
			column[i] = n.Rows[i][j]
		}
		column = b.unify(column)
		for i := range n.Rows {
			n.Rows[i][j] = column[i]
		}
		n.Out = append(n.Out, b.ids.Field(fmt.Sprintf("col%d", j), column[0].Type()))
	}
	return n
}

// setOp binds UNION, EXCEPT and INTERSECT. Columns are matched by position, or by name.
func (b *binder) setOp(x *syntax.SetOp, outer *scope, c *ctes) plan.Node {
	none := &syntax.Query{}
	l, r := b.body(x.L, none, outer, c), b.body(x.R, none, outer, c)
	if x.ByName {
		l, r = b.byName(x.At, l, r)
	}
	lf, rf := l.Fields(), r.Fields()
	if len(lf) != len(rf) {
		b.fail(x.At, fmt.Sprintf("the left query has %d columns and the right one %d", len(lf), len(rf)),
			"Write UNION BY NAME, or name the columns in both.")
	}
	common := make([]types.Type, len(lf))
	for i := range lf {
		t, err := types.Common(lf[i].Type, rf[i].Type)
		b.check(x.At, err)
		common[i] = t
	}
	n := &plan.SetOp{Kind: x.Kind, All: x.All, L: b.as(l, common), R: b.as(r, common)}
	for i, f := range n.L.Fields() {
		n.Out = append(n.Out, b.ids.Field(f.Name, common[i]))
	}
	return n
}

// as converts the columns of n where that is needed.
func (b *binder) as(n plan.Node, to []types.Type) plan.Node {
	for i, f := range n.Fields() {
		if f.Type != to[i] {
			return b.convertColumns(n, to)
		}
	}
	return n
}

// byName gives both sides all columns of both, those of the left side first. A column that a side lacks is NULL there.
func (b *binder) byName(at syntax.Pos, l, r plan.Node) (plan.Node, plan.Node) {
	var names []string
	add := func(fields []plan.Field) {
		seen := map[string]bool{}
		for _, f := range fields {
			if seen[lower(f.Name)] {
				b.fail(at, fmt.Sprintf("UNION BY NAME of two columns %s", f.Name), "Give one of them another name.")
			}
			seen[lower(f.Name)] = true
		}
		for _, f := range fields {
			found := false
			for _, n := range names {
				found = found || equalFold(n, f.Name)
			}
			if !found {
				names = append(names, f.Name)
			}
		}
	}
	add(l.Fields())
	add(r.Fields())
	arrange := func(n plan.Node) plan.Node {
		p := &plan.Project{Input: n}
		for _, name := range names {
			var e plan.Expr = plan.Value(types.Of(types.Null), at, nil)
			for _, f := range n.Fields() {
				if equalFold(f.Name, name) {
					e = f.Ref(at)
				}
			}
			p.Exprs, p.Out = append(p.Exprs, e), append(p.Out, b.ids.Field(name, e.Type()))
		}
		return p
	}
	return arrange(l), arrange(r)
}
