package bind

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// maxSets is how many groupings ROLLUP, CUBE and GROUPING SETS may make.
const maxSets = 256

// grouping collects the keys of a GROUP BY.
type grouping struct {
	*selection
	node *plan.Aggregation
	in   *plan.Numbering
	at   map[int]int // key by number of the interner
}

// aggregate adds the step of GROUP BY, and replaces keys and aggregates in exprs by its columns.
func (s *selection) aggregate(exprs []plan.Expr) []plan.Expr {
	g := &grouping{s, &plan.Aggregation{Input: s.node}, plan.NewNumbering(), map[int]int{}}
	g.keys()
	for _, k := range g.node.Keys {
		g.node.Out = append(g.node.Out, s.ids.Field("", k.Type()))
	}
	s.node = g.node
	aggregates := map[int]int{}
	return plan.NewRewriter(func(e plan.Expr) (plan.Expr, bool) {
		if i, ok := g.at[g.in.Number(e)]; ok {
			return g.node.Out[i].Ref(e.Pos()), true
		}
		switch e := e.(type) {
		case *plan.Aggregate:
			if e.Func == "GROUPING" {
				if e = g.masks(e); len(e.BySet) == 1 { // without GROUPING SETS there is one set, with every key
					return &plan.Const{Base: e.Base, Value: int64(0)}, true
				}
			}
			i, ok := aggregates[g.in.Number(e)]
			if !ok {
				i = len(g.node.Aggs)
				aggregates[g.in.Number(e)] = i
				g.node.Aggs, g.node.Out = append(g.node.Aggs, e), append(g.node.Out, s.ids.Field(e.Func, e.T))
			}
			return g.node.Out[len(g.node.Keys)+i].Ref(e.At), true
		case *plan.Column:
			s.fail(e.At, fmt.Sprintf("the column %s is neither in GROUP BY nor within an aggregate", e.Name),
				fmt.Sprintf("Add it to GROUP BY, or write any_value(%s).", e.Name))
		}
		return nil, false
	}).Exprs(exprs)
}

// grouping binds GROUPING. Its value has one bit per argument, 1 if the row's grouping leaves the argument out. The last
// argument has the lowest bit.
func (b *binder) grouping(x *syntax.Call, s *scope) plan.Expr {
	if x.Star || x.Distinct || len(x.OrderBy) > 0 || x.Filter != nil || x.Over != nil || x.IgnoreNulls {
		b.fail(x.At, "GROUPING takes keys of GROUP BY, and nothing else", "")
	}
	if len(x.Args) < 1 || len(x.Args) > 62 {
		b.fail(x.At, fmt.Sprintf("GROUPING takes 1 to 62 keys of GROUP BY, not %d", len(x.Args)), "")
	}
	a := &plan.Aggregate{Base: plan.Base{T: types.Of(types.BigInt), At: x.At}, Func: "GROUPING"}
	for _, arg := range x.Args {
		a.Args = append(a.Args, b.plain(arg, s, "GROUPING"))
	}
	return a
}

// masks computes the value of GROUPING in each set.
func (g *grouping) masks(a *plan.Aggregate) *plan.Aggregate {
	out := &plan.Aggregate{Base: a.Base, Func: a.Func, BySet: make([]int64, len(g.node.Sets))}
	for _, arg := range a.Args {
		k, ok := g.at[g.in.Number(arg)]
		if !ok {
			g.fail(arg.Pos(), "GROUPING takes keys of GROUP BY, and this is none", "")
		}
		for i, set := range g.node.Sets {
			out.BySet[i] <<= 1
			if !slices.Contains(set, k) {
				out.BySet[i] |= 1
			}
		}
	}
	return out
}

// keys binds the items of GROUP BY. If several items have sets, each set of one item is combined with each set of the others.
func (g *grouping) keys() {
	by := g.sel.GroupBy
	g.node.Sets = [][]int{{}}
	switch {
	case by == nil:
	case by.All:
		for _, e := range g.exprs {
			if plan.Find(e, func(e plan.Expr) bool { return plan.IsAggregate(e) || plan.IsWindow(e) }, nil) == nil {
				g.node.Sets[0] = g.key(e, e.Pos(), g.node.Sets[0])
			}
		}
	default:
		for _, item := range by.Items {
			g.node.Sets = g.product(by.At, g.node.Sets, g.sets(item))
		}
	}
}

// key adds a key, once, and appends its number to set.
func (g *grouping) key(e plan.Expr, at syntax.Pos, set []int) []int {
	if plan.Find(e, func(e plan.Expr) bool { return plan.IsAggregate(e) || plan.IsWindow(e) }, nil) != nil {
		g.noAggregates(e, at, "GROUP BY")
	}
	g.noUnnest(e, "GROUP BY")
	if plan.Find(e, isCorrelated, nil) != nil {
		g.fail(at, "GROUP BY cannot contain a correlated subquery", "Compute it in a subquery in FROM.")
	}
	i, ok := g.at[g.in.Number(e)]
	if !ok {
		i = len(g.node.Keys)
		g.at[g.in.Number(e)] = i
		g.node.Keys = append(g.node.Keys, e)
	}
	if slices.Contains(set, i) {
		return set
	}
	return append(slices.Clone(set), i)
}

// sets returns the groupings that an item makes.
func (g *grouping) sets(item syntax.GroupItem) [][]int {
	switch item.Kind {
	case syntax.GroupExpr, syntax.GroupTuple:
		set := []int{}
		for _, x := range item.Exprs {
			set = g.key(g.groupExpr(x), x.Pos(), set)
		}
		return [][]int{set}
	case syntax.GroupSets:
		var all [][]int
		for _, i := range item.Items {
			all = append(all, g.sets(i)...)
			g.few(item.At, len(all))
		}
		return all
	}
	parts := make([][]int, len(item.Items))
	for i, p := range item.Items {
		if p.Kind > syntax.GroupTuple {
			g.fail(p.At, "ROLLUP and CUBE take expressions and lists of them", "Write GROUPING SETS.")
		}
		parts[i] = g.sets(p)[0]
	}
	if item.Kind == syntax.GroupRollup {
		g.few(item.At, len(parts)+1)
		all := make([][]int, 0, len(parts)+1)
		for n := len(parts); n >= 0; n-- {
			all = append(all, union(parts[:n]))
		}
		return all
	}
	g.few(item.At, 1<<min(len(parts), 30))
	var all [][]int
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
		var some [][]int
		for i, p := range parts {
			if mask>>(len(parts)-1-i)&1 == 1 {
				some = append(some, p)
			}
		}
		all = append(all, union(some))
	}
	return all
}

// groupExpr binds a position, a column, an alias or an expression.
func (g *grouping) groupExpr(x syntax.Expr) plan.Expr {
	if i, ok := g.position(x); ok {
		return g.exprs[i]
	}
	return g.expr(x, g.scope)
}

func (g *grouping) product(at syntax.Pos, a, b [][]int) (out [][]int) {
	g.few(at, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, union([][]int{x, y}))
		}
	}
	return out
}

func (g *grouping) few(at syntax.Pos, sets int) {
	if sets > maxSets {
		g.fail(at, fmt.Sprintf("this makes more than %d groupings", maxSets), "Name those that are wanted: GROUPING SETS (…).")
	}
}

// union joins sets, each key once.
func union(sets [][]int) []int {
	out := []int{}
	for _, s := range sets {
		for _, k := range s {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}
