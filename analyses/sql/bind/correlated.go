package bind

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// A query used as a value may read columns of the row around it (a correlated query). While the query is bound, such a column
// is an outerRef. Then the conditions that compare with the outer row are pulled up out of its plan. The plan can then be
// computed once for all outer rows, and be joined with them. A *correlated describes this join. It stays in expressions until
// the step whose rows it reads is made. Then attach adds the join and replaces the *correlated by columns. No finished plan
// contains a *correlated.
type (
	// outerRef is an expression over the row around the query that is being bound.
	outerRef struct {
		plan.Base
		x plan.Expr
	}
	// correlated is a query that reads the row around it. Its expressions read the columns of its plan; each outerRef has
	// become an index into args.
	correlated struct {
		plan.Base
		kind   *plan.Subquery
		args   []plan.Expr // expressions over the row around it
		plan   *pulled
		value  plan.Expr // the value that a row of plan gives
		order  []plan.Order
		first  bool      // the query has LIMIT 1
		member plan.Expr // the left operand of IN
	}
	// outerArg stands for an item of args.
	outerArg struct {
		plan.Base
		i int
	}
	// pulled is a plan that no longer reads the row around it.
	pulled struct {
		node  plan.Node
		cols  []plan.Expr // the plan's columns, as expressions over the columns of node
		conds []plan.Expr // conditions that a row of node must fulfil
		// one: if no row of node fulfils conds, the plan still has one row, as an aggregate without GROUP BY has; cols describe that row.
		one  bool
		keep plan.Expr // the HAVING condition of that row
	}
)

// These are plan.Unbound.

func (c *correlated) Parts() []plan.Expr { return c.args }
func (c *correlated) With(args []plan.Expr) plan.Expr {
	out := *c
	out.args = args
	return &out
}
func (c *correlated) Identity(func(plan.Expr) int) string {
	return fmt.Sprintf("correlated %p", c.kind)
}
func (c *correlated) Asks() bool { return true }

func (o *outerRef) Parts() []plan.Expr         { return nil }
func (o *outerRef) With([]plan.Expr) plan.Expr { return o }
func (o *outerRef) Identity(number func(plan.Expr) int) string {
	return fmt.Sprintf("outer %d", number(o.x))
}
func (o *outerRef) Asks() bool { return true }

func (a *outerArg) Parts() []plan.Expr                  { return nil }
func (a *outerArg) With([]plan.Expr) plan.Expr          { return a }
func (a *outerArg) Identity(func(plan.Expr) int) string { return fmt.Sprintf("argument %d", a.i) }
func (a *outerArg) Asks() bool                          { return false }

// correlate makes a correlated query of a plan that has outerRefs.
func (b *binder) correlate(kind *plan.Subquery, query plan.Node, x plan.Expr) plan.Expr {
	c := &correlated{Base: kind.Base, kind: kind}
	u := &puller{b: b, at: kind.At, c: c, numbers: plan.NewNumbering(), known: map[int]int{}}
	for stripped := true; stripped; {
		stripped = false
		switch n := query.(type) {
		case *plan.Limit:
			if kind.Exists && n.Count != 0 && n.Offset == 0 || !kind.Exists && !kind.In && n.Count == 1 && n.Offset == 0 {
				c.first, query, stripped = true, n.Input, true
			}
		case *plan.Distinct:
			if kind.Exists || kind.In && len(n.On) == 0 {
				query, stripped = n.Input, true
			}
		case *plan.Sort:
			if kind.Exists || kind.In {
				query, stripped = n.Input, true
			} else if c.first {
				c.order, query = n.Keys, n.Input
			}
		case *plan.Project: // a Project that hides the columns of ORDER BY
			if s, ok := n.Input.(*plan.Sort); ok && c.first && len(n.Exprs) == 1 {
				if col, ok := n.Exprs[0].(*plan.Column); ok && col.Index == 0 {
					c.order, query = s.Keys, s.Input
				}
			}
		}
	}
	c.plan = u.pull(query)
	for i := range c.plan.conds {
		c.plan.conds[i] = u.numbered(c.plan.conds[i])
	}
	for i := range c.plan.cols {
		c.plan.cols[i] = u.numbered(c.plan.cols[i])
	}
	if c.plan.keep != nil {
		c.plan.keep = u.numbered(c.plan.keep)
	}
	if len(c.plan.cols) > 0 && !kind.Exists {
		c.value = c.plan.cols[0]
	}
	c.order = slices.Clone(c.order)
	for i := range c.order {
		c.order[i].X = plan.Substitute(c.order[i].X, c.plan.cols)
	}
	if kind.In {
		c.member = u.argument(x)
	}
	if equal, rest := c.pairs(0); rest != nil && plan.HasColumn(rest) && len(equal) == 0 {
		u.refuse("is compared with it by no equality")
	}
	return c
}

// pairs returns the conditions of the join with the outer rows, which have width columns.
func (c *correlated) pairs(width int) (equal [][2]plan.Expr, rest plan.Expr) {
	for _, cond := range c.plan.conds {
		if outer, inner, ok := equality(cond); ok {
			equal = append(equal, [2]plan.Expr{c.placed(outer, 0), inner})
			continue
		}
		rest = plan.And(rest, c.placed(cond, width))
	}
	return equal, rest
}

// placed rewrites an expression over the joined rows: first the columns of the outer row, then those of the plan.
func (c *correlated) placed(e plan.Expr, width int) plan.Expr {
	return plan.NewRewriter(func(e plan.Expr) (plan.Expr, bool) {
		switch e := e.(type) {
		case *outerArg:
			return c.args[e.i], true
		case *plan.Column:
			return &plan.Column{Base: e.Base, Index: e.Index + width, Name: e.Name}, true
		}
		return nil, false
	}).Expr(e)
}

func made(at syntax.Pos, name string, t types.Kind, args ...plan.Expr) plan.Expr {
	return plan.Call(types.Of(t), at, name, args...)
}

// attach joins n with the queries in e that read its rows, and replaces these queries by columns.
func (b *binder) attach(n plan.Node, e plan.Expr) (plan.Node, plan.Expr) {
	n, out := b.attachAll(n, []plan.Expr{e})
	return n, out[0]
}

func (b *binder) attachAll(n plan.Node, list []plan.Expr) (plan.Node, []plan.Expr) {
	var r *plan.Rewriter
	r = plan.NewRewriter(func(e plan.Expr) (plan.Expr, bool) {
		c, ok := e.(*correlated)
		if !ok {
			return nil, false
		}
		mine := *c
		mine.args = r.Exprs(c.args) // a query may look at the value of another one
		var value plan.Expr
		n, value = b.joined(n, &mine)
		return value, true
	})
	out := r.Exprs(list)
	return n, out
}

func isCorrelated(e plan.Expr) bool { _, ok := e.(*correlated); return ok }

// leftJoin joins the rows of n with those of r. Each row of n has at most one partner.
func leftJoin(n, r plan.Node, equal [][2]plan.Expr, rest plan.Expr) *plan.Join {
	return &plan.Join{Kind: syntax.Left, L: n, R: r, Equal: equal, Rest: rest, Out: append(slices.Clone(n.Fields()), r.Fields()...)}
}

// joined joins n with a query that reads its rows, and returns the query's value.
func (b *binder) joined(n plan.Node, c *correlated) (plan.Node, plan.Expr) {
	p, at := c.plan, c.At
	width := len(n.Fields())
	boolean := types.Bool
	if p.one {
		equal, rest := c.pairs(width)
		var value plan.Expr
		j := leftJoin(n, p.node, equal, rest)
		keep := plan.Expr(nil)
		if p.keep != nil {
			keep = c.placed(p.keep, width)
		}
		switch {
		case c.kind.Exists && keep == nil:
			return n, plan.Value(types.Of(boolean), at, true)
		case c.kind.Exists:
			return j, made(at, "coalesce", boolean, keep, plan.Value(types.Of(boolean), at, false))
		}
		value = c.placed(c.value, width)
		none := plan.Value(value.Type(), at, nil)
		if c.kind.In {
			value = made(at, "=", boolean, c.placed(c.member, 0), value)
			none = plan.Value(types.Of(boolean), at, false)
		}
		if keep != nil {
			value = plan.Call(value.Type(), at, "CASE", keep, value, none)
		}
		return j, value
	}
	u := &puller{b: b, at: at}
	if !looksAtRows(p.node) {
		return n, b.without(c)
	}
	if c.value != nil && hasOuter(c.value) {
		u.refuse("gives values that are computed with it")
	}
	keys, conds := u.byKey(p.conds, 0)
	group := func(keys []plan.Expr, aggs ...*plan.Aggregate) *plan.Aggregation {
		a := &plan.Aggregation{Input: p.node, Keys: keys, Aggs: aggs, Sets: [][]int{{}}}
		for i, k := range keys {
			a.Sets[0] = append(a.Sets[0], i)
			a.Out = append(a.Out, plan.Field{Name: "", Type: k.Type()})
		}
		for _, g := range aggs {
			a.Out = append(a.Out, plan.Field{Name: g.Func, Type: g.T})
		}
		return a
	}
	join := func(n plan.Node, g *plan.Aggregation, conds []plan.Expr, more ...[2]plan.Expr) plan.Node {
		of := &correlated{args: c.args, plan: &pulled{conds: conds}}
		equal, rest := of.pairs(len(n.Fields()))
		return leftJoin(n, g, append(equal, more...), rest)
	}
	column := func(n plan.Node, i int, of *plan.Aggregate) plan.Expr {
		return &plan.Column{Base: plan.Base{T: of.T, At: at}, Index: i, Name: of.Func}
	}
	count := &plan.Aggregate{Base: plan.Base{T: types.Of(types.BigInt), At: at}, Func: "count"}
	isNull := func(e plan.Expr) plan.Expr { return made(at, "IS NULL", boolean, e) }
	switch {
	case c.kind.Exists:
		g := group(keys, count)
		if len(keys) == 0 { // an aggregation without keys has a row even for no rows
			value := made(at, ">", boolean, column(n, width, count), plan.Value(types.Of(types.BigInt), at, int64(0)))
			return join(n, g, conds), made(at, "coalesce", boolean, value, plan.Value(types.Of(boolean), at, false))
		}
		return join(n, g, conds), b.not(true, isNull(column(n, width+len(keys), count)))
	case c.kind.In:
		return b.member(n, c, keys, conds, group, join, count)
	}
	value := &plan.Aggregate{Base: plan.Base{T: c.T, At: at}, Func: "first", Args: []plan.Expr{c.value}, Order: c.order}
	g := group(keys, value, count)
	v := column(n, width+len(keys), value)
	if !c.first {
		v = plan.Call(c.T, at, OneRow, v, column(n, width+len(keys)+1, count))
	}
	return join(n, g, conds), v
}

// OneRow is the operator that returns its first operand. Its second operand is the number of rows of a query used as a value;
// it fails if that is above 1.
const OneRow = "ONE ROW"

// member is x IN (query) in three-valued logic: false without rows, else NULL if x is NULL, else true if a row equals x, else
// NULL if a row is NULL, else false.
func (b *binder) member(n plan.Node, c *correlated, keys, conds []plan.Expr, group func([]plan.Expr, ...*plan.Aggregate) *plan.Aggregation,
	join func(plan.Node, *plan.Aggregation, []plan.Expr, ...[2]plan.Expr) plan.Node, count *plan.Aggregate) (plan.Node, plan.Expr) {
	at, bigint := c.At, types.BigInt
	values := &plan.Aggregate{Base: plan.Base{T: types.Of(bigint), At: at}, Func: "count", Args: []plan.Expr{c.value}}
	width := len(n.Fields())
	x := c.placed(c.member, 0)
	n = join(n, group(keys, count, values), conds)
	column := func(i int) plan.Expr {
		return &plan.Column{Base: plan.Base{T: types.Of(bigint), At: at}, Index: i, Name: "count"}
	}
	rows, present := column(width+len(keys)), column(width+len(keys)+1)
	width = len(n.Fields())
	all := append(slices.Clone(keys), c.value)
	last := &plan.Column{Base: plan.Base{T: c.value.Type(), At: at}, Index: len(keys), Name: ""}
	n = join(n, group(all, count), conds, [2]plan.Expr{x, last})
	found := column(width + len(all))
	constant := func(v any) plan.Expr { return plan.Value(types.Of(types.Bool), at, v) }
	isNull := func(e plan.Expr) plan.Expr { return made(at, "IS NULL", types.Bool, e) }
	none := made(at, "OR", types.Bool, isNull(rows), made(at, "=", types.Bool, rows,
		plan.Value(types.Of(bigint), at, int64(0))))
	return n, made(at, "CASE", types.Bool,
		none, constant(false),
		isNull(x), constant(nil),
		b.not(true, isNull(found)), constant(true),
		made(at, "<", types.Bool, present, rows), constant(nil),
		constant(false))
}

// looksAtRows reports whether a plan reads rows, and is not just the one row of a SELECT without FROM.
func looksAtRows(n plan.Node) bool {
	i, ok := n.(*plan.Inline)
	return !ok || len(i.Rows) != 1 || len(i.Rows[0]) != 0
}

// without returns the value of a query without FROM. It needs no join.
func (b *binder) without(c *correlated) plan.Expr {
	var value plan.Expr
	none := plan.Value(c.T, c.At, nil)
	switch {
	case c.kind.Exists:
		value, none.Value = plan.Value(c.T, c.At, true), false
	case c.kind.In:
		value, none.Value = made(c.At, "=", types.Bool, c.placed(c.member, 0), c.placed(c.value, 0)), false
	default:
		value = c.placed(c.value, 0)
	}
	var cond plan.Expr
	for _, part := range c.plan.conds {
		cond = plan.And(cond, c.placed(part, 0))
	}
	if cond == nil {
		return value
	}
	return plan.Call(c.T, c.At, "CASE", cond, value, none)
}

// attachWhere adds the parts of WHERE that use such queries. A part that is just EXISTS or IN becomes a SEMI join, and with NOT
// an ANTI join.
func (b *binder) attachWhere(n plan.Node, part plan.Expr) plan.Node {
	kind, e := syntax.Semi, part
	if a, ok := e.(*plan.Apply); ok && a.Func == "NOT" {
		kind, e = syntax.Anti, a.Args[0]
	}
	c, ok := e.(*correlated)
	if !ok || c.plan.one || !c.kind.Exists && !c.kind.In || !looksAtRows(c.plan.node) {
		n, part = b.attach(n, part)
		return &plan.Filter{Input: n, Cond: part}
	}
	mine := *c
	c = &mine
	n, c.args = b.attachAll(n, c.args)
	width := len(n.Fields())
	equal, rest := c.pairs(width)
	if c.kind.In {
		x, v := c.placed(c.member, 0), c.placed(c.value, width)
		same := made(c.At, "=", types.Bool, x, v)
		switch {
		case kind == syntax.Anti: // if either side is NULL, the row may equal x
			unknown := made(c.At, "OR", types.Bool, made(c.At, "IS NULL", types.Bool, x), made(c.At, "IS NULL", types.Bool, v))
			rest = plan.And(rest, made(c.At, "OR", types.Bool, same, unknown))
		case hasOuter(c.value) || !plan.HasColumn(c.value):
			rest = plan.And(rest, same)
		default:
			equal = append(equal, [2]plan.Expr{x, c.value})
		}
	}
	return &plan.Join{Kind: kind, L: n, R: c.plan.node, Equal: equal, Rest: rest, Out: n.Fields()}
}

// outer binds a column of the query around this one.
func (b *binder) outer(c *syntax.Column, s *scope) plan.Expr {
	for o := s.outer; o != nil; o = o.outer {
		found := o.find(c.Table, c.Name)
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1:
			b.fail(c.At, fmt.Sprintf("the column %s is in several tables of the query around this one", c.Name), within(c, found[:1]))
		case o != s.outer:
			b.fail(c.At, fmt.Sprintf("the column %s belongs to a query that is further out than the one around this one", c.Name),
				"Hand it on, or write a JOIN with a grouped query.")
		}
		x := b.use(found[0], c.At)
		return &outerRef{plan.Base{T: x.Type(), At: c.At}, x}
	}
	return nil
}
