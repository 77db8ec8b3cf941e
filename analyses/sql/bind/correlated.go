package bind

import (
	"fmt"
	"maps"
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
		by    map[plan.ColumnID]plan.Expr // columns of the plan that node has not got, as expressions over the columns of node
		conds []plan.Expr                 // conditions that a row of node must fulfil
		// one: if no row of node fulfils conds, the plan still has one row, as an aggregate without GROUP BY has; by describes that row.
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
				if col, ok := n.Exprs[0].(*plan.Column); ok && col.ID == s.Fields()[0].ID {
					c.order, query = s.Keys, s.Input
				}
			}
		}
	}
	c.plan = u.pull(query)
	for i := range c.plan.conds {
		c.plan.conds[i] = u.numbered(c.plan.conds[i])
	}
	for _, id := range slices.Sorted(maps.Keys(c.plan.by)) { // in one order, because every node binds the text by itself
		c.plan.by[id] = u.numbered(c.plan.by[id])
	}
	if c.plan.keep != nil {
		c.plan.keep = u.numbered(c.plan.keep)
	}
	if fields := query.Fields(); len(fields) > 0 && !kind.Exists {
		c.value = plan.Substitute(fields[0].Ref(0), c.plan.by)
	}
	c.order = slices.Clone(c.order)
	for i := range c.order {
		c.order[i].X = plan.Substitute(c.order[i].X, c.plan.by)
	}
	if kind.In {
		c.member = u.argument(x)
	}
	if equal, rest := c.pairs(); rest != nil && plan.HasColumn(rest) && len(equal) == 0 {
		u.refuse("has no equality with the outer row")
	}
	return c
}

// pairs returns the conditions of the join with the outer rows.
func (c *correlated) pairs() (equal [][2]plan.Expr, rest plan.Expr) {
	for _, cond := range c.plan.conds {
		if outer, inner, ok := equality(cond); ok {
			equal = append(equal, [2]plan.Expr{c.placed(outer), inner})
			continue
		}
		rest = plan.And(rest, c.placed(cond))
	}
	return equal, rest
}

// placed rewrites an expression over the joined rows of the outer row and the plan.
func (c *correlated) placed(e plan.Expr) plan.Expr {
	return plan.Rewrite(func(e plan.Expr) (plan.Expr, bool) {
		if a, ok := e.(*outerArg); ok {
			return c.args[a.i], true
		}
		return nil, false
	})(e)
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
	j := plan.NewJoin(syntax.Left, n, r)
	j.Equal, j.Rest = equal, rest
	return j
}

// joined joins n with a query that reads its rows, and returns the query's value.
func (b *binder) joined(n plan.Node, c *correlated) (plan.Node, plan.Expr) {
	if c.plan.one {
		return b.joinedOne(n, c)
	}
	p, at := c.plan, c.At
	boolean := types.Bool
	u := &puller{b: b, at: at}
	if !looksAtRows(p.node) {
		return n, b.without(c)
	}
	if c.value != nil && hasOuter(c.value) {
		u.refuse("returns values that are computed from the outer row")
	}
	g := &keyed{u: u, c: c}
	count := &plan.Aggregate{Base: plan.Base{T: types.Of(types.BigInt), At: at}, Func: "count"}
	switch {
	case c.kind.Exists:
		j, keys, counts := g.join(n, nil, count)
		if keys == 0 { // an aggregation without keys has a row even for no rows
			value := made(at, ">", boolean, counts[0].Ref(at), plan.Value(types.Of(types.BigInt), at, int64(0)))
			return j, made(at, "coalesce", boolean, value, plan.Value(types.Of(boolean), at, false))
		}
		return j, b.not(true, made(at, "IS NULL", boolean, counts[0].Ref(at)))
	case c.kind.In:
		return b.member(n, g, count)
	}
	value := &plan.Aggregate{Base: plan.Base{T: c.T, At: at}, Func: "first", Args: []plan.Expr{c.value}, Order: c.order}
	j, _, of := g.join(n, nil, value, count)
	if c.first {
		return j, of[0].Ref(at)
	}
	return j, plan.Call(c.T, at, plan.OneRow, of[0].Ref(at), of[1].Ref(at))
}

// joinedOne is joined for a query that has one row for each row of n.
func (b *binder) joinedOne(n plan.Node, c *correlated) (plan.Node, plan.Expr) {
	if b.joinedBefore[c.plan.node] { // its columns are in n already, under these numbers
		c = b.another(c)
	}
	b.joinedBefore[c.plan.node] = true
	at, boolean := c.At, types.Bool
	equal, rest := c.pairs()
	j := leftJoin(n, c.plan.node, equal, rest)
	keep := plan.Expr(nil)
	if c.plan.keep != nil {
		keep = c.placed(c.plan.keep)
	}
	switch {
	case c.kind.Exists && keep == nil:
		return n, plan.Value(types.Of(boolean), at, true)
	case c.kind.Exists:
		return j, made(at, "coalesce", boolean, keep, plan.Value(types.Of(boolean), at, false))
	}
	value := c.placed(c.value)
	none := plan.Value(value.Type(), at, nil)
	if c.kind.In {
		value = made(at, "=", boolean, c.placed(c.member), value)
		none = plan.Value(types.Of(boolean), at, false)
	}
	if keep != nil {
		value = plan.Call(value.Type(), at, "CASE", keep, value, none)
	}
	return j, value
}

// another returns the same query in columns with other numbers.
func (b *binder) another(c *correlated) *correlated {
	to, p := *c, *c.plan
	node := b.renumbered(p.node)
	by := map[plan.ColumnID]plan.Expr{}
	for i, f := range p.node.Fields() {
		by[f.ID] = node.Out[i].Ref(0)
	}
	p.node, p.conds = node, slices.Clone(p.conds)
	for i, cond := range p.conds {
		p.conds[i] = plan.Substitute(cond, by)
	}
	if p.keep != nil {
		p.keep = plan.Substitute(p.keep, by)
	}
	if c.value != nil {
		to.value = plan.Substitute(c.value, by)
	}
	to.plan = &p
	return &to
}

// keyed groups the rows of a correlated query by what they are compared with.
type keyed struct {
	u *puller
	c *correlated
}

// join joins n with the groups of the query's rows. With a value, the groups are also by the query's value, and are joined to n where that
// equals value. It returns the number of keys, and the columns of the aggregates.
func (k *keyed) join(n plan.Node, value plan.Expr, aggs ...*plan.Aggregate) (j plan.Node, keys int, of []plan.Field) {
	by, fields, conds := k.u.byKey(k.c.plan.conds)
	var more [][2]plan.Expr
	if value != nil {
		f := k.u.b.ids.Field("", k.c.value.Type())
		by, fields = append(by, k.c.value), append(fields, f)
		more = [][2]plan.Expr{{value, f.Ref(k.c.At)}}
	}
	a := &plan.Aggregation{Input: k.c.plan.node, Keys: by, Aggs: aggs, Sets: [][]int{{}}, Out: fields}
	for i := range by {
		a.Sets[0] = append(a.Sets[0], i)
	}
	for _, g := range aggs {
		a.Out = append(a.Out, k.u.b.ids.Field(g.Func, g.T))
	}
	equal, rest := (&correlated{args: k.c.args, plan: &pulled{conds: conds}}).pairs()
	return leftJoin(n, a, append(equal, more...), rest), len(by), a.Out[len(by):]
}

// member is x IN (query) in three-valued logic: false without rows, else NULL if x is NULL, else true if a row equals x, else
// NULL if a row is NULL, else false.
func (b *binder) member(n plan.Node, g *keyed, count *plan.Aggregate) (plan.Node, plan.Expr) {
	c := g.c
	at, bigint := c.At, types.BigInt
	x := c.placed(c.member)
	values := &plan.Aggregate{Base: plan.Base{T: types.Of(bigint), At: at}, Func: "count", Args: []plan.Expr{c.value}}
	n, _, of := g.join(n, nil, count, values)
	rows, present := of[0].Ref(at), of[1].Ref(at)
	n, _, of = g.join(n, x, count)
	found := of[0].Ref(at)
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
		value, none.Value = made(c.At, "=", types.Bool, c.placed(c.member), c.placed(c.value)), false
	default:
		value = c.placed(c.value)
	}
	var cond plan.Expr
	for _, part := range c.plan.conds {
		cond = plan.And(cond, c.placed(part))
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
	equal, rest := c.pairs()
	if c.kind.In {
		x, v := c.placed(c.member), c.placed(c.value)
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
	j := plan.NewJoin(kind, n, c.plan.node)
	j.Equal, j.Rest = equal, rest
	return j
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
