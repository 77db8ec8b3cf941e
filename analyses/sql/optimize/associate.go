package optimize

import (
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
)

// Associate takes apart a cross join whose rows are then joined with a table: its right side is joined with the table first. FROM part,
// supplier, partsupp with conditions between partsupp and each of the others would otherwise make all pairs of parts and suppliers. The
// rows stay in their order: first that of l, then m, then r. So this also helps where Arrange may not touch the order.
//
//	join on a = c and b = d        join on a = c
//	  join cross                     l (a)
//	    l (a)            becomes     join on b = d
//	    m (b)                          m (b)
//	    r (c, d)                       r (c, d)
//
// Conditions that may fail stay, because they would be computed for other pairs of rows.
func Associate(roots []plan.Node) []plan.Node {
	uses := plan.Uses(roots...)
	return all(roots, plan.Rebuild(func(n plan.Node) plan.Node { return associated(n, uses) }))
}

func associated(n plan.Node, uses map[plan.Node]int) plan.Node {
	j, is := n.(*plan.Join)
	if !is || j.Kind != syntax.Inner {
		return n
	}
	cross, is := j.L.(*plan.Join)
	if !is || cross.Kind != syntax.Inner && cross.Kind != syntax.Cross || len(cross.Equal) > 0 || cross.Rest != nil || uses[cross] > 1 {
		return n
	}
	inner, outer := plan.NewJoin(syntax.Inner, cross.R, j.R), [][2]plan.Expr(nil)
	for _, p := range j.Equal {
		if plan.MayFail(p[0]) || plan.MayFail(p[1]) {
			return n
		}
		switch cross.Side(p[0]) {
		case plan.Left:
			outer = append(outer, p)
		case plan.Right:
			inner.Equal = append(inner.Equal, p)
		default:
			return n
		}
	}
	if len(inner.Equal) == 0 {
		return n
	}
	to := plan.NewJoin(syntax.Inner, cross.L, associated(inner, uses))
	if to.Equal, to.Rest = outer, j.Rest; len(outer) == 0 && j.Rest == nil {
		to.Kind = syntax.Cross
	}
	return associated(to, uses)
}
