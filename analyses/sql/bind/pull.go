package bind

import (
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// puller pulls the conditions on the outer row up out of a correlated plan.
type puller struct {
	b       *binder
	at      syntax.Pos
	c       *correlated
	numbers *plan.Numbering
	known   map[int]int
}

func (u *puller) refuse(what string) {
	u.b.fail(u.at, "this query looks at the row around it, and "+what,
		"Compare with the row around it by = in WHERE; or write a JOIN with a grouped query.")
}

// argument numbers an expression over the row around the query.
func (u *puller) argument(x plan.Expr) plan.Expr {
	id := u.numbers.Number(x)
	i, ok := u.known[id]
	if !ok {
		i = len(u.c.args)
		u.known[id] = i
		u.c.args = append(u.c.args, x)
	}
	return &outerArg{plan.Base{T: x.Type(), At: x.Pos()}, i}
}

func (u *puller) numbered(e plan.Expr) plan.Expr {
	return plan.NewRewriter(func(e plan.Expr) (plan.Expr, bool) {
		if o, ok := e.(*outerRef); ok {
			return u.argument(o.x), true
		}
		return nil, false
	}).Expr(e)
}

func isOuter(e plan.Expr) bool {
	switch e.(type) {
	case *outerRef, *outerArg:
		return true
	}
	return false
}

func hasOuter(e plan.Expr) bool { return e != nil && plan.Find(e, isOuter, nil) != nil }

// looksOut reports whether a plan reads the row around it.
func looksOut(n plan.Node, seen map[plan.Node]bool) bool {
	if seen[n] {
		return false
	}
	seen[n] = true
	return slices.ContainsFunc(plan.Exprs(n), hasOuter) ||
		slices.ContainsFunc(plan.Inputs(n), func(in plan.Node) bool { return looksOut(in, seen) })
}

func columnsOf(n plan.Node) (cols []plan.Expr) {
	for i, f := range n.Fields() {
		cols = append(cols, &plan.Column{Base: plan.Base{T: f.Type, At: 0}, Index: i, Name: f.Name})
	}
	return cols
}

func (u *puller) pull(n plan.Node) *pulled {
	if !looksOut(n, map[plan.Node]bool{}) {
		return &pulled{node: n, cols: columnsOf(n)}
	}
	switch n := n.(type) {
	case *plan.Filter:
		return u.filter(n)
	case *plan.Project:
		p := u.pull(n.Input)
		out := *p
		out.cols = make([]plan.Expr, len(n.Exprs))
		for i, e := range n.Exprs {
			out.cols[i] = plan.Substitute(e, p.cols)
		}
		return &out
	case *plan.Join:
		return u.join(n)
	case *plan.Aggregation:
		return u.aggregation(n)
	case *plan.Windows:
		return u.windows(n)
	case *plan.Sort:
		return u.pull(n.Input)
	case *plan.Limit:
		u.refuse("has LIMIT")
	case *plan.SetOp:
		u.refuse("is made of several queries")
	case *plan.Inline:
		u.refuse("has VALUES of it")
	}
	u.refuse("cannot be joined to it")
	return nil
}

func (u *puller) filter(n *plan.Filter) *pulled {
	p := *u.pull(n.Input)
	cond := plan.Substitute(n.Cond, p.cols)
	if p.one {
		p.keep = plan.And(p.keep, cond)
		return &p
	}
	var stay plan.Expr
	for _, part := range plan.Conjuncts(cond) {
		if hasOuter(part) {
			p.conds = append(p.conds, part)
		} else {
			stay = plan.And(stay, part)
		}
	}
	if stay != nil {
		p.node = &plan.Filter{Input: p.node, Cond: stay}
	}
	return &p
}

func (u *puller) join(n *plan.Join) *pulled {
	inner := n.Kind == syntax.Inner || n.Kind == syntax.Cross
	if !inner && (n.Kind != syntax.Left && n.Kind != syntax.Semi && n.Kind != syntax.Anti || looksOut(n.R, map[plan.Node]bool{}) ||
		slices.ContainsFunc(plan.Exprs(n), hasOuter)) {
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
	j := &plan.Join{Kind: n.Kind, L: l.node, R: r.node, Out: append(slices.Clone(l.node.Fields()), r.node.Fields()...)}
	for _, pair := range n.Equal {
		a, z := plan.Substitute(pair[0], l.cols), plan.Substitute(pair[1], r.cols)
		if hasOuter(a) || hasOuter(z) || !plan.HasColumn(a) && plan.HasColumn(pair[0]) || !plan.HasColumn(z) && plan.HasColumn(pair[1]) {
			out.conds = append(out.conds, plan.Call(types.Of(types.Bool), a.Pos(), "=", a, shift(z, width)))
			continue
		}
		j.Equal = append(j.Equal, [2]plan.Expr{a, z})
	}
	if n.Rest != nil {
		for _, part := range plan.Conjuncts(plan.Substitute(n.Rest, out.cols)) {
			if hasOuter(part) {
				out.conds = append(out.conds, part)
			} else {
				j.Rest = plan.And(j.Rest, part)
			}
		}
	}
	if n.Kind == syntax.Semi || n.Kind == syntax.Anti {
		j.Out, out.cols = j.Out[:width], l.cols
	}
	out.node = j
	return out
}

// equality splits a condition that compares the row around the query with a row of the plan. It returns the two sides, each an
// expression over one of these rows alone.
func equality(cond plan.Expr) (outer, inner plan.Expr, ok bool) {
	a, is := cond.(*plan.Apply)
	if !is || a.Func != "=" || a.Args[0].Type() != a.Args[1].Type() {
		return nil, nil, false
	}
	for i, x := range a.Args {
		y := a.Args[1-i]
		if hasOuter(x) && !plan.HasColumn(x) && !hasOuter(y) && plan.HasColumn(y) {
			return x, y, true
		}
	}
	return nil, nil, false
}

// byKey prepares for grouping the plan's rows by the inner sides of the equalities. It returns these sides as keys, and the
// conditions over the groups, in which the kth key is column first+k. Conditions on the outer row alone do not change.
func (u *puller) byKey(conds []plan.Expr, first int) (keys, above []plan.Expr) {
	for _, cond := range conds {
		if !plan.HasColumn(cond) {
			above = append(above, cond)
			continue
		}
		outer, inner, ok := equality(cond)
		if !ok {
			u.refuse("is grouped, and compared with it by something else than =")
		}
		key := &plan.Column{Base: plan.Base{T: inner.Type(), At: inner.Pos()}, Index: first + len(keys), Name: ""}
		above = append(above, plan.Call(types.Of(types.Bool), cond.Pos(), "=", outer, key))
		keys = append(keys, inner)
	}
	return keys, above
}

func (u *puller) aggregation(n *plan.Aggregation) *pulled {
	p := u.pull(n.Input)
	if p.one {
		u.refuse("groups an aggregate that does")
	}
	a := &plan.Aggregation{Input: p.node}
	out := &pulled{node: a}
	for _, k := range n.Keys {
		a.Keys = append(a.Keys, plan.Substitute(k, p.cols))
	}
	var keys []plan.Expr
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
		a.Out = append(a.Out, plan.Field{Name: "", Type: k.Type()})
	}
	out.cols = columnsOf(a)[:len(n.Keys)]
	for _, x := range n.Aggs {
		x = plan.Substitute(x, p.cols).(*plan.Aggregate)
		a.Aggs, a.Out = append(a.Aggs, x), append(a.Out, plan.Field{Name: x.Func, Type: x.T})
		var col plan.Expr = &plan.Column{Base: plan.Base{T: x.T, At: x.At}, Index: len(a.Out) - 1, Name: x.Func}
		if out.one && (x.Func == "count" || x.Func == "approx_count_distinct") { // the count of no rows is 0
			col = plan.Call(x.T, x.At, "coalesce", col, plan.Value(x.T, x.At, int64(0)))
		}
		out.cols = append(out.cols, col)
	}
	if slices.ContainsFunc(plan.Exprs(a), hasOuter) {
		u.refuse("groups or aggregates by it")
	}
	return out
}

// windows pulls conditions up through window functions. The functions are computed for each outer row, among the rows with
// its key.
func (u *puller) windows(n *plan.Windows) *pulled {
	p := u.pull(n.Input)
	if p.one {
		u.refuse("has windows over an aggregate that does")
	}
	keys, _ := u.byKey(p.conds, 0)
	width := len(p.node.Fields())
	w := &plan.Windows{Input: p.node, Out: slices.Clone(p.node.Fields())}
	out := &pulled{node: w, cols: slices.Clone(p.cols), conds: p.conds}
	for i, c := range n.Calls {
		call := *plan.Substitute(c, p.cols).(*plan.WindowCall)
		call.Partition = append(slices.Clone(call.Partition), keys...)
		if hasOuter(&call) {
			u.refuse("has a window function of it")
		}
		w.Calls, w.Out = append(w.Calls, &call), append(w.Out, plan.Field{Name: call.Func, Type: call.T})
		out.cols = append(out.cols, &plan.Column{Base: plan.Base{T: call.T, At: call.At}, Index: width + i, Name: call.Func})
	}
	return out
}
