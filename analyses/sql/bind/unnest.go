package bind

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// isUnnest reports whether an expression is UNNEST in a SELECT. UNNEST makes rows, so it is not treated as a function.
func isUnnest(e plan.Expr) bool {
	a, ok := e.(*plan.Apply)
	return ok && a.Func == "UNNEST"
}

// unnest binds UNNEST in a SELECT.
func (b *binder) unnest(x *syntax.Call, s *scope) plan.Expr {
	if len(x.Args) != 1 {
		b.fail(x.At, fmt.Sprintf("UNNEST takes one list, not %d", len(x.Args)), "Several stand side by side: SELECT unnest(a), unnest(b).")
	}
	if x.Star || x.Distinct || len(x.OrderBy) > 0 || x.Filter != nil || x.Over != nil || x.IgnoreNulls {
		b.fail(x.At, "UNNEST is not an aggregate", "DISTINCT, ORDER BY, FILTER and OVER belong to aggregates.")
	}
	return plan.Call(types.Of(types.Text), x.At, "UNNEST", b.list(x.At, b.expr(x.Args[0], s)))
}

// list checks that an expression is a list.
func (b *binder) list(at syntax.Pos, e plan.Expr) plan.Expr {
	hint := ""
	switch e.Type().Kind {
	case types.TextList:
		return e
	case types.Null:
		return plan.Value(types.Of(types.TextList), e.Pos(), nil)
	case types.Text:
		hint = "A list is what string_split(x, ','), python_list(x) and, of a JSON array, x->>'$[*]' give."
	}
	b.check(at, types.Refuse(hint, "UNNEST needs a list, not %s", e.Type()))
	return nil
}

// noUnnest refuses UNNEST in places where it cannot make rows.
func (b *binder) noUnnest(e plan.Expr, where string) {
	if n := plan.Find(e, isUnnest, nil); n != nil {
		b.fail(n.Pos(), where+" cannot contain UNNEST", "Put it into FROM: FROM t, UNNEST(list) AS u(item).")
	}
}

// unnested adds a step for UNNEST in SELECT. Several lists of one SELECT are unnested in parallel.
func (s *selection) unnested(exprs []plan.Expr) []plan.Expr {
	in := s.node.Fields()
	u := &plan.Unnest{Input: s.node, Out: append([]plan.Field{}, in...)}
	ids, at := plan.NewNumbering(), map[int]int{}
	s.node = u
	return plan.NewRewriter(func(e plan.Expr) (plan.Expr, bool) {
		if !isUnnest(e) {
			return nil, false
		}
		list := e.(*plan.Apply).Args[0]
		s.noUnnest(list, "UNNEST")
		i, ok := at[ids.Number(e)]
		if !ok {
			i = len(u.Lists)
			at[ids.Number(e)] = i
			u.Lists, u.Out = append(u.Lists, list), append(u.Out, s.ids.Field("unnest", e.Type()))
		}
		return u.Out[len(in)+i].Ref(e.Pos()), true
	}).Exprs(exprs)
}

// fromUnnest binds UNNEST(list) in FROM. The list may use the columns of the tables before it: those of n, which are called
// left.
func (b *binder) fromUnnest(f *syntax.TableFunc, n plan.Node, left []visible, outer *scope, c *ctes) (*plan.Unnest, visible) {
	if len(f.Args) != 1 || f.Args[0].Name.Name != "" {
		b.fail(f.Name.At, "UNNEST in FROM takes one list", "")
	}
	var list plan.Expr
	b.withItems(nil, func() {
		list = b.plain(f.Args[0].X, &scope{columns: left, outer: outer, ctes: c}, "UNNEST")
	})
	b.noUnnest(list, "UNNEST")
	if plan.Find(list, isCorrelated, nil) != nil {
		b.fail(f.Args[0].X.Pos(), "UNNEST cannot contain a correlated subquery", "Compute it in a subquery in FROM.")
	}
	list = b.list(f.Args[0].X.Pos(), list)
	v := visible{table: "unnest", name: "unnest", field: b.ids.Field("", types.Of(types.Text))}
	if f.Alias.Name.Name != "" {
		v.table = f.Alias.Name.Name
	}
	if names := f.Alias.Columns; len(names) > 1 {
		b.fail(names[1].At, "UNNEST gives one column", "")
	} else if len(names) == 1 {
		v.name = names[0].Name
	}
	v.field.Name = v.name
	out := append(slices.Clone(n.Fields()), v.field)
	return &plan.Unnest{Input: n, Lists: []plan.Expr{list}, Out: out}, v
}

// beforeUnnest changes t, (UNNEST(list) LEFT JOIN u ON …), which is how the parser reads a comma, into (t, UNNEST(list)) LEFT
// JOIN u ON …, because the list may use columns of t.
func beforeUnnest(f *syntax.Join) *syntax.Join {
	r, ok := f.R.(*syntax.Join)
	if !ok || f.Kind != syntax.Cross || r.Natural || r.Kind == syntax.Right || r.Kind == syntax.Full {
		return f
	}
	first := r.L
	for {
		j, ok := first.(*syntax.Join)
		if !ok {
			break
		}
		first = j.L
	}
	if u, ok := first.(*syntax.TableFunc); !ok || u.Name.Name != "unnest" {
		return f
	}
	out := *r
	out.L = &syntax.Join{At: f.At, Kind: syntax.Cross, L: f.L, R: r.L}
	return &out
}

// joinUnnest binds a join whose right side is UNNEST: it joins each row with the items of its own list.
func (b *binder) joinUnnest(f *syntax.Join, r *syntax.TableFunc, outer *scope, c *ctes) (plan.Node, []visible) {
	n, left := b.from(f.L, outer, c)
	u, v := b.fromUnnest(r, n, left, outer, c)
	b.differentTables(f.At, left, []visible{v})
	if f.Natural || len(f.Using) > 0 || f.Kind != syntax.Inner && f.Kind != syntax.Cross && f.Kind != syntax.Left {
		b.fail(f.At, "UNNEST is joined by a comma, CROSS JOIN, JOIN … ON or LEFT JOIN … ON true", "")
	}
	names := append(append([]visible{}, left...), v)
	if f.On == nil {
		return u, names
	}
	on := b.boolean(b.plain(f.On, &scope{columns: names, outer: outer, ctes: c}, "ON"), "ON")
	if k, ok := on.(*plan.Const); ok && k.Value == true {
		u.Outer = f.Kind == syntax.Left
		return u, names
	}
	if f.Kind == syntax.Left {
		b.fail(f.On.Pos(), "a LEFT JOIN with UNNEST has no condition but true", "Write LEFT JOIN UNNEST(list) AS u(item) ON true.")
	}
	if plan.Find(on, isCorrelated, nil) != nil {
		b.fail(f.On.Pos(), "ON cannot contain a correlated subquery", "Put it into WHERE.")
	}
	return b.where(u, on), names
}
