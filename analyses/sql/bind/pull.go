package bind

import (
	"maps"
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
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
	u.b.fail(u.at, "this correlated subquery "+what,
		"Compare with the outer row by = in WHERE; or write a JOIN with a grouped query.")
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

func (u *puller) pull(n plan.Node) *pulled {
	if !looksOut(n, map[plan.Node]bool{}) {
		return &pulled{node: n}
	}
	switch n := n.(type) {
	case *plan.Filter:
		return u.filter(n)
	case *plan.Project:
		p := u.pull(n.Input)
		out := *p
		out.by = make(map[plan.ColumnID]plan.Expr, len(n.Exprs))
		for i, e := range n.Exprs {
			out.by[n.Out[i].ID] = plan.Substitute(e, p.by)
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
		u.refuse("combines several queries")
	case *plan.Inline:
		u.refuse("has VALUES that use the outer row")
	}
	u.refuse("cannot be joined to the outer row")
	return nil
}

func (u *puller) filter(n *plan.Filter) *pulled {
	p := *u.pull(n.Input)
	cond := plan.Substitute(n.Cond, p.by)
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
		u.refuse("uses the outer row within an outer join")
	}
	l, r := u.pull(n.L), u.pull(n.R)
	if l.one || r.one {
		u.refuse("joins an aggregate that uses the outer row")
	}
	out := &pulled{by: map[plan.ColumnID]plan.Expr{}, conds: slices.Concat(l.conds, r.conds)}
	maps.Copy(out.by, l.by)
	maps.Copy(out.by, r.by)
	j := plan.NewJoin(n.Kind, l.node, r.node)
	for _, pair := range n.Equal {
		a, z := plan.Substitute(pair[0], l.by), plan.Substitute(pair[1], r.by)
		if hasOuter(a) || hasOuter(z) || !plan.HasColumn(a) && plan.HasColumn(pair[0]) || !plan.HasColumn(z) && plan.HasColumn(pair[1]) {
			out.conds = append(out.conds, plan.Call(types.Of(types.Bool), a.Pos(), "=", a, z))
			continue
		}
		j.Equal = append(j.Equal, [2]plan.Expr{a, z})
	}
	if n.Rest != nil {
		for _, part := range plan.Conjuncts(plan.Substitute(n.Rest, out.by)) {
			if hasOuter(part) {
				out.conds = append(out.conds, part)
			} else {
				j.Rest = plan.And(j.Rest, part)
			}
		}
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

// byKey prepares for grouping the plan's rows by the inner sides of the equalities. It returns these sides as keys, the columns that the
// groups have for them, and the conditions over the groups. Conditions on the outer row alone do not change.
func (u *puller) byKey(conds []plan.Expr) (keys []plan.Expr, fields []plan.Field, above []plan.Expr) {
	for _, cond := range conds {
		if !plan.HasColumn(cond) {
			above = append(above, cond)
			continue
		}
		outer, inner, ok := equality(cond)
		if !ok {
			u.refuse("is grouped, and is compared with the outer row by something other than =")
		}
		f := u.b.ids.Field("", inner.Type())
		above = append(above, plan.Call(types.Of(types.Bool), cond.Pos(), "=", outer, f.Ref(inner.Pos())))
		keys, fields = append(keys, inner), append(fields, f)
	}
	return keys, fields, above
}

func (u *puller) aggregation(n *plan.Aggregation) *pulled {
	p := u.pull(n.Input)
	if p.one {
		u.refuse("groups an aggregate that uses the outer row")
	}
	a := &plan.Aggregation{Input: p.node}
	out := &pulled{node: a, by: map[plan.ColumnID]plan.Expr{}}
	for i, k := range n.Keys {
		f := u.b.ids.Field("", k.Type())
		a.Keys, a.Out = append(a.Keys, plan.Substitute(k, p.by)), append(a.Out, f)
		out.by[n.Out[i].ID] = f.Ref(0)
	}
	keys, fields, conds := u.byKey(p.conds)
	a.Keys, a.Out, out.conds = append(a.Keys, keys...), append(a.Out, fields...), conds
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
	for i, x := range n.Aggs {
		x = plan.Substitute(x, p.by).(*plan.Aggregate)
		f := u.b.ids.Field(x.Func, x.T)
		a.Aggs, a.Out = append(a.Aggs, x), append(a.Out, f)
		var col plan.Expr = f.Ref(x.At)
		if of := aggregate.Find(x.Func); out.one && of != nil && of.Zero { // the count of no rows is 0
			col = plan.Call(x.T, x.At, "coalesce", col, plan.Value(x.T, x.At, int64(0)))
		}
		out.by[n.Out[len(n.Keys)+i].ID] = col
	}
	if slices.ContainsFunc(plan.Exprs(a), hasOuter) {
		u.refuse("groups or aggregates by columns of the outer row")
	}
	return out
}

// windows pulls conditions up through window functions. The functions are computed for each outer row, among the rows with
// its key.
func (u *puller) windows(n *plan.Windows) *pulled {
	p := u.pull(n.Input)
	if p.one {
		u.refuse("has windows over an aggregate that uses the outer row")
	}
	keys, _, _ := u.byKey(p.conds)
	width := len(n.Input.Fields())
	w := &plan.Windows{Input: p.node, Out: slices.Clone(p.node.Fields())}
	out := &pulled{node: w, by: maps.Clone(p.by), conds: p.conds}
	if out.by == nil {
		out.by = map[plan.ColumnID]plan.Expr{}
	}
	for i, c := range n.Calls {
		call := *plan.Substitute(c, p.by).(*plan.WindowCall)
		call.Partition = append(slices.Clone(call.Partition), keys...)
		if hasOuter(&call) {
			u.refuse("has a window function of the outer row")
		}
		f := u.b.ids.Field(call.Func, call.T)
		w.Calls, w.Out = append(w.Calls, &call), append(w.Out, f)
		out.by[n.Out[width+i].ID] = f.Ref(call.At)
	}
	return out
}
