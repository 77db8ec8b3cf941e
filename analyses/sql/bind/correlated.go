package bind

import (
	"fmt"
	"slices"

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
		base
		x Expr
	}
	// correlated is a query that reads the row around it. Its expressions read the columns of its plan; each outerRef has
	// become an index into args.
	correlated struct {
		base
		kind   *Subquery
		args   []Expr // expressions over the row around it
		plan   *pulled
		value  Expr // the value that a row of plan gives
		order  []Order
		first  bool // the query has LIMIT 1
		member Expr // the left operand of IN
	}
	// outerArg stands for an item of args.
	outerArg struct {
		base
		i int
	}
	// pulled is a plan that no longer reads the row around it.
	pulled struct {
		node  Node
		cols  []Expr // the plan's columns, as expressions over the columns of node
		conds []Expr // conditions that a row of node must fulfil
		one   bool   // if no row of node fulfils conds, the plan still has one row, as an aggregate without GROUP BY has; cols describe that row
		keep  Expr   // the HAVING condition of that row
	}
)

// correlate makes a correlated query of a plan that has outerRefs.
func (b *binder) correlate(kind *Subquery, plan Node, x Expr) Expr {
	c := &correlated{base: kind.base, kind: kind}
	u := &puller{b: b, at: kind.At, c: c, numbers: newInterner(), known: map[int]int{}}
	for stripped := true; stripped; {
		stripped = false
		switch n := plan.(type) {
		case *Limit:
			if kind.Exists && n.Count != 0 && n.Offset == 0 || !kind.Exists && !kind.In && n.Count == 1 && n.Offset == 0 {
				c.first, plan, stripped = true, n.Input, true
			}
		case *Distinct:
			if kind.Exists || kind.In && len(n.On) == 0 {
				plan, stripped = n.Input, true
			}
		case *Sort:
			if kind.Exists || kind.In {
				plan, stripped = n.Input, true
			} else if c.first {
				c.order, plan = n.Keys, n.Input
			}
		case *Project: // a Project that hides the columns of ORDER BY
			if s, ok := n.Input.(*Sort); ok && c.first && len(n.Exprs) == 1 {
				if col, ok := n.Exprs[0].(*Column); ok && col.Index == 0 {
					c.order, plan = s.Keys, s.Input
				}
			}
		}
	}
	c.plan = u.pull(plan)
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
		c.order[i].X = substitute(c.order[i].X, c.plan.cols)
	}
	if kind.In {
		c.member = u.argument(x)
	}
	if equal, rest := c.pairs(0); rest != nil && hasColumn(rest) && len(equal) == 0 {
		u.refuse("is compared with it by no equality")
	}
	return c
}

// pairs returns the conditions of the join with the outer rows, which have width columns.
func (c *correlated) pairs(width int) (equal [][2]Expr, rest Expr) {
	for _, cond := range c.plan.conds {
		if outer, inner, ok := equality(cond); ok {
			equal = append(equal, [2]Expr{c.placed(outer, 0), inner})
			continue
		}
		rest = and(rest, c.placed(cond, width))
	}
	return equal, rest
}

// placed rewrites an expression over the joined rows: first the columns of the outer row, then those of the plan.
func (c *correlated) placed(e Expr, width int) Expr {
	return newRewriter(func(e Expr) (Expr, bool) {
		switch e := e.(type) {
		case *outerArg:
			return c.args[e.i], true
		case *Column:
			return &Column{e.base, e.Index + width, e.Name}, true
		}
		return nil, false
	}).expr(e)
}

func made(at syntax.Pos, name string, t types.Kind, args ...Expr) Expr {
	return &Apply{base{types.Of(t), at}, name, args}
}

// attach joins n with the queries in e that read its rows, and replaces these queries by columns.
func (b *binder) attach(n Node, e Expr) (Node, Expr) {
	n, out := b.attachAll(n, []Expr{e})
	return n, out[0]
}

func (b *binder) attachAll(n Node, list []Expr) (Node, []Expr) {
	var r *rewriter
	r = newRewriter(func(e Expr) (Expr, bool) {
		c, ok := e.(*correlated)
		if !ok {
			return nil, false
		}
		mine := *c
		mine.args = r.exprs(c.args) // a query may look at the value of another one
		var value Expr
		n, value = b.joined(n, &mine)
		return value, true
	})
	out := r.exprs(list)
	return n, out
}

func isCorrelated(e Expr) bool { _, ok := e.(*correlated); return ok }

// leftJoin joins the rows of n with those of r. Each row of n has at most one partner.
func leftJoin(n, r Node, equal [][2]Expr, rest Expr) *Join {
	return &Join{Kind: syntax.Left, L: n, R: r, Equal: equal, Rest: rest, out: append(slices.Clone(n.Fields()), r.Fields()...)}
}

// joined joins n with a query that reads its rows, and returns the query's value.
func (b *binder) joined(n Node, c *correlated) (Node, Expr) {
	p, at := c.plan, c.At
	width := len(n.Fields())
	boolean := types.Bool
	if p.one {
		equal, rest := c.pairs(width)
		var value Expr
		j := leftJoin(n, p.node, equal, rest)
		keep := Expr(nil)
		if p.keep != nil {
			keep = c.placed(p.keep, width)
		}
		switch {
		case c.kind.Exists && keep == nil:
			return n, &Const{base: base{types.Of(boolean), at}, Value: true}
		case c.kind.Exists:
			return j, made(at, "coalesce", boolean, keep, &Const{base: base{types.Of(boolean), at}, Value: false})
		}
		value = c.placed(c.value, width)
		none := &Const{base: base{value.Type(), at}}
		if c.kind.In {
			value = made(at, "=", boolean, c.placed(c.member, 0), value)
			none = &Const{base: base{types.Of(boolean), at}, Value: false}
		}
		if keep != nil {
			value = &Apply{base{value.Type(), at}, "CASE", []Expr{keep, value, none}}
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
	group := func(keys []Expr, aggs ...*Aggregate) *Aggregation {
		a := &Aggregation{Input: p.node, Keys: keys, Aggs: aggs, Sets: [][]int{{}}}
		for i, k := range keys {
			a.Sets[0] = append(a.Sets[0], i)
			a.out = append(a.out, Field{"", k.Type()})
		}
		for _, g := range aggs {
			a.out = append(a.out, Field{g.Func, g.T})
		}
		return a
	}
	join := func(n Node, g *Aggregation, conds []Expr, more ...[2]Expr) Node {
		of := &correlated{args: c.args, plan: &pulled{conds: conds}}
		equal, rest := of.pairs(len(n.Fields()))
		return leftJoin(n, g, append(equal, more...), rest)
	}
	column := func(n Node, i int, of *Aggregate) Expr { return &Column{base{of.T, at}, i, of.Func} }
	count := &Aggregate{base: base{types.Of(types.BigInt), at}, Func: "count"}
	isNull := func(e Expr) Expr { return made(at, "IS NULL", boolean, e) }
	switch {
	case c.kind.Exists:
		g := group(keys, count)
		if len(keys) == 0 { // an aggregation without keys has a row even for no rows
			value := made(at, ">", boolean, column(n, width, count), &Const{base: base{types.Of(types.BigInt), at}, Value: int64(0)})
			return join(n, g, conds), made(at, "coalesce", boolean, value, &Const{base: base{types.Of(boolean), at}, Value: false})
		}
		return join(n, g, conds), b.not(true, isNull(column(n, width+len(keys), count)))
	case c.kind.In:
		return b.member(n, c, keys, conds, group, join, count)
	}
	value := &Aggregate{base: base{c.T, at}, Func: "first", Args: []Expr{c.value}, Order: c.order}
	g := group(keys, value, count)
	v := column(n, width+len(keys), value)
	if !c.first {
		v = &Apply{base{c.T, at}, OneRow, []Expr{v, column(n, width+len(keys)+1, count)}}
	}
	return join(n, g, conds), v
}

// OneRow is the operator that returns its first operand. Its second operand is the number of rows of a query used as a value;
// it fails if that is above 1.
const OneRow = "ONE ROW"

// member is x IN (query) in three-valued logic: false without rows, else NULL if x is NULL, else true if a row equals x, else
// NULL if a row is NULL, else false.
func (b *binder) member(n Node, c *correlated, keys, conds []Expr, group func([]Expr, ...*Aggregate) *Aggregation,
	join func(Node, *Aggregation, []Expr, ...[2]Expr) Node, count *Aggregate) (Node, Expr) {
	at, bigint := c.At, types.BigInt
	values := &Aggregate{base: base{types.Of(bigint), at}, Func: "count", Args: []Expr{c.value}}
	width := len(n.Fields())
	x := c.placed(c.member, 0)
	n = join(n, group(keys, count, values), conds)
	column := func(i int) Expr { return &Column{base{types.Of(bigint), at}, i, "count"} }
	rows, present := column(width+len(keys)), column(width+len(keys)+1)
	width = len(n.Fields())
	all := append(slices.Clone(keys), c.value)
	last := &Column{base{c.value.Type(), at}, len(keys), ""}
	n = join(n, group(all, count), conds, [2]Expr{x, last})
	found := column(width + len(all))
	constant := func(v any) Expr { return &Const{base: base{types.Of(types.Bool), at}, Value: v} }
	isNull := func(e Expr) Expr { return made(at, "IS NULL", types.Bool, e) }
	none := made(at, "OR", types.Bool, isNull(rows), made(at, "=", types.Bool, rows,
		&Const{base: base{types.Of(bigint), at}, Value: int64(0)}))
	return n, made(at, "CASE", types.Bool,
		none, constant(false),
		isNull(x), constant(nil),
		b.not(true, isNull(found)), constant(true),
		made(at, "<", types.Bool, present, rows), constant(nil),
		constant(false))
}

// looksAtRows reports whether a plan reads rows, and is not just the one row of a SELECT without FROM.
func looksAtRows(n Node) bool {
	i, ok := n.(*Inline)
	return !ok || len(i.Rows) != 1 || len(i.Rows[0]) != 0
}

// without returns the value of a query without FROM. It needs no join.
func (b *binder) without(c *correlated) Expr {
	var value Expr
	none := &Const{base: base{c.T, c.At}}
	switch {
	case c.kind.Exists:
		value, none.Value = &Const{base: base{c.T, c.At}, Value: true}, false
	case c.kind.In:
		value, none.Value = made(c.At, "=", types.Bool, c.placed(c.member, 0), c.placed(c.value, 0)), false
	default:
		value = c.placed(c.value, 0)
	}
	var cond Expr
	for _, part := range c.plan.conds {
		cond = and(cond, c.placed(part, 0))
	}
	if cond == nil {
		return value
	}
	return &Apply{base{c.T, c.At}, "CASE", []Expr{cond, value, none}}
}

// attachWhere adds the parts of WHERE that use such queries. A part that is just EXISTS or IN becomes a SEMI join, and with NOT
// an ANTI join.
func (b *binder) attachWhere(n Node, part Expr) Node {
	kind, e := syntax.Semi, part
	if a, ok := e.(*Apply); ok && a.Func == "NOT" {
		kind, e = syntax.Anti, a.Args[0]
	}
	c, ok := e.(*correlated)
	if !ok || c.plan.one || !c.kind.Exists && !c.kind.In || !looksAtRows(c.plan.node) {
		n, part = b.attach(n, part)
		return &Filter{n, part}
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
			rest = and(rest, made(c.At, "OR", types.Bool, same, unknown))
		case hasOuter(c.value) || !hasColumn(c.value):
			rest = and(rest, same)
		default:
			equal = append(equal, [2]Expr{x, c.value})
		}
	}
	return &Join{Kind: kind, L: n, R: c.plan.node, Equal: equal, Rest: rest, out: n.Fields()}
}

// outer binds a column of the query around this one.
func (b *binder) outer(c *syntax.Column, s *scope) Expr {
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
		return &outerRef{base{x.Type(), c.At}, x}
	}
	return nil
}
