package bind

import (
	"slices"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// puller pulls the conditions on the outer row up out of a correlated plan.
type puller struct {
	b       *binder
	at      syntax.Pos
	c       *correlated
	numbers *interner
	known   map[int]int
}

func (u *puller) refuse(what string) {
	u.b.fail(u.at, "this query looks at the row around it, and "+what,
		"Compare with the row around it by = in WHERE; or write a JOIN with a grouped query.")
}

// argument numbers an expression over the row around the query.
func (u *puller) argument(x Expr) Expr {
	id := u.numbers.id(x)
	i, ok := u.known[id]
	if !ok {
		i = len(u.c.args)
		u.known[id] = i
		u.c.args = append(u.c.args, x)
	}
	return &outerArg{base{x.Type(), x.Pos()}, i}
}

func (u *puller) numbered(e Expr) Expr {
	return newRewriter(func(e Expr) (Expr, bool) {
		if o, ok := e.(*outerRef); ok {
			return u.argument(o.x), true
		}
		return nil, false
	}).expr(e)
}

func isOuter(e Expr) bool {
	switch e.(type) {
	case *outerRef, *outerArg:
		return true
	}
	return false
}

func hasOuter(e Expr) bool { return e != nil && find(e, isOuter, nil) != nil }
func hasColumn(e Expr) bool {
	return find(e, func(e Expr) bool { _, ok := e.(*Column); return ok }, nil) != nil
}

// looksOut reports whether a plan reads the row around it.
func looksOut(n Node, seen map[Node]bool) bool {
	if seen[n] {
		return false
	}
	seen[n] = true
	return slices.ContainsFunc(Exprs(n), hasOuter) || slices.ContainsFunc(Inputs(n), func(in Node) bool { return looksOut(in, seen) })
}

// substitute replaces columns by expressions.
func substitute(e Expr, cols []Expr) Expr {
	return newRewriter(func(e Expr) (Expr, bool) {
		if c, ok := e.(*Column); ok {
			return cols[c.Index], true
		}
		return nil, false
	}).expr(e)
}

func columnsOf(n Node) (cols []Expr) {
	for i, f := range n.Fields() {
		cols = append(cols, &Column{base{f.Type, 0}, i, f.Name})
	}
	return cols
}

func (u *puller) pull(n Node) *pulled {
	if !looksOut(n, map[Node]bool{}) {
		return &pulled{node: n, cols: columnsOf(n)}
	}
	switch n := n.(type) {
	case *Filter:
		return u.filter(n)
	case *Project:
		p := u.pull(n.Input)
		out := *p
		out.cols = make([]Expr, len(n.Exprs))
		for i, e := range n.Exprs {
			out.cols[i] = substitute(e, p.cols)
		}
		return &out
	case *Join:
		return u.join(n)
	case *Aggregation:
		return u.aggregation(n)
	case *Windows:
		return u.windows(n)
	case *Sort:
		return u.pull(n.Input)
	case *Limit:
		u.refuse("has LIMIT")
	case *SetOp:
		u.refuse("is made of several queries")
	case *Inline:
		u.refuse("has VALUES of it")
	}
	u.refuse("cannot be joined to it")
	return nil
}

func (u *puller) filter(n *Filter) *pulled {
	p := *u.pull(n.Input)
	cond := substitute(n.Cond, p.cols)
	if p.one {
		p.keep = and(p.keep, cond)
		return &p
	}
	var stay Expr
	for _, part := range conjuncts(cond) {
		if hasOuter(part) {
			p.conds = append(p.conds, part)
		} else {
			stay = and(stay, part)
		}
	}
	if stay != nil {
		p.node = &Filter{p.node, stay}
	}
	return &p
}

func (u *puller) join(n *Join) *pulled {
	inner := n.Kind == syntax.Inner || n.Kind == syntax.Cross
	if !inner && (n.Kind != syntax.Left && n.Kind != syntax.Semi && n.Kind != syntax.Anti || looksOut(n.R, map[Node]bool{}) ||
		slices.ContainsFunc(Exprs(n), hasOuter)) {
		u.refuse("does so within an outer join")
	}
	l, r := u.pull(n.L), u.pull(n.R)
	if l.one || r.one {
		u.refuse("joins an aggregate that does")
	}
	width := len(l.node.Fields())
	out := &pulled{cols: slices.Clone(l.cols), conds: slices.Clone(l.conds)}
	for _, e := range r.cols {
		out.cols = append(out.cols, shift(e, width))
	}
	for _, e := range r.conds {
		out.conds = append(out.conds, shift(e, width))
	}
	j := &Join{Kind: n.Kind, L: l.node, R: r.node, out: append(slices.Clone(l.node.Fields()), r.node.Fields()...)}
	for _, pair := range n.Equal {
		a, z := substitute(pair[0], l.cols), substitute(pair[1], r.cols)
		if hasOuter(a) || hasOuter(z) || !hasColumn(a) && hasColumn(pair[0]) || !hasColumn(z) && hasColumn(pair[1]) {
			out.conds = append(out.conds, &Apply{base{types.Of(types.Bool), a.Pos()}, "=", []Expr{a, shift(z, width)}})
			continue
		}
		j.Equal = append(j.Equal, [2]Expr{a, z})
	}
	if n.Rest != nil {
		for _, part := range conjuncts(substitute(n.Rest, out.cols)) {
			if hasOuter(part) {
				out.conds = append(out.conds, part)
			} else {
				j.Rest = and(j.Rest, part)
			}
		}
	}
	if n.Kind == syntax.Semi || n.Kind == syntax.Anti {
		j.out, out.cols = j.out[:width], l.cols
	}
	out.node = j
	return out
}

// equality splits a condition that compares the row around the query with a row of the plan. It returns the two sides, each an
// expression over one of these rows alone.
func equality(cond Expr) (outer, inner Expr, ok bool) {
	a, is := cond.(*Apply)
	if !is || a.Func != "=" || a.Args[0].Type() != a.Args[1].Type() {
		return nil, nil, false
	}
	for i, x := range a.Args {
		y := a.Args[1-i]
		if hasOuter(x) && !hasColumn(x) && !hasOuter(y) && hasColumn(y) {
			return x, y, true
		}
	}
	return nil, nil, false
}

// byKey prepares for grouping the plan's rows by the inner sides of the equalities. It returns these sides as keys, and the
// conditions over the groups, in which the kth key is column first+k. Conditions on the outer row alone do not change.
func (u *puller) byKey(conds []Expr, first int) (keys, above []Expr) {
	for _, cond := range conds {
		if !hasColumn(cond) {
			above = append(above, cond)
			continue
		}
		outer, inner, ok := equality(cond)
		if !ok {
			u.refuse("is grouped, and compared with it by something else than =")
		}
		key := &Column{base{inner.Type(), inner.Pos()}, first + len(keys), ""}
		above = append(above, &Apply{base{types.Of(types.Bool), cond.Pos()}, "=", []Expr{outer, key}})
		keys = append(keys, inner)
	}
	return keys, above
}

func (u *puller) aggregation(n *Aggregation) *pulled {
	p := u.pull(n.Input)
	if p.one {
		u.refuse("groups an aggregate that does")
	}
	a := &Aggregation{Input: p.node}
	out := &pulled{node: a}
	for _, k := range n.Keys {
		a.Keys = append(a.Keys, substitute(k, p.cols))
	}
	var keys []Expr
	keys, out.conds = u.byKey(p.conds, len(n.Keys))
	a.Keys = append(a.Keys, keys...)
	for _, set := range n.Sets {
		with := slices.Clone(set)
		for k := range keys {
			with = append(with, len(n.Keys)+k)
		}
		a.Sets = append(a.Sets, with)
		if len(set) == 0 {
			out.one = true
		}
	}
	if out.one && len(n.Sets) > 1 {
		u.refuse("has several groupings, one of them of all rows")
	}
	for _, k := range a.Keys {
		a.out = append(a.out, Field{"", k.Type()})
	}
	out.cols = columnsOf(a)[:len(n.Keys)]
	for _, x := range n.Aggs {
		x = substitute(x, p.cols).(*Aggregate)
		a.Aggs, a.out = append(a.Aggs, x), append(a.out, Field{x.Func, x.T})
		var col Expr = &Column{base{x.T, x.At}, len(a.out) - 1, x.Func}
		if out.one && (x.Func == "count" || x.Func == "approx_count_distinct") { // the count of no rows is 0
			col = &Apply{base{x.T, x.At}, "coalesce", []Expr{col, &Const{base: base{x.T, x.At}, Value: int64(0)}}}
		}
		out.cols = append(out.cols, col)
	}
	if slices.ContainsFunc(Exprs(a), hasOuter) {
		u.refuse("groups or aggregates by it")
	}
	return out
}

// windows pulls conditions up through window functions. The functions are computed for each outer row, among the rows with
// its key.
func (u *puller) windows(n *Windows) *pulled {
	p := u.pull(n.Input)
	if p.one {
		u.refuse("has windows over an aggregate that does")
	}
	keys, _ := u.byKey(p.conds, 0)
	width := len(p.node.Fields())
	w := &Windows{Input: p.node, out: slices.Clone(p.node.Fields())}
	out := &pulled{node: w, cols: slices.Clone(p.cols), conds: p.conds}
	for i, c := range n.Calls {
		call := *substitute(c, p.cols).(*WindowCall)
		call.Partition = append(slices.Clone(call.Partition), keys...)
		if hasOuter(&call) {
			u.refuse("has a window function of it")
		}
		w.Calls, w.out = append(w.Calls, &call), append(w.out, Field{call.Func, call.T})
		out.cols = append(out.cols, &Column{base{call.T, call.At}, width + i, call.Func})
	}
	return out
}
