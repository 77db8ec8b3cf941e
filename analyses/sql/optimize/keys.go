package optimize

import (
	"slices"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"
	"posta.dev/posta/analyses/sql/syntax"
)

// Keys drops rows of a large table that have no partner among the rows of a small one (E9), where a join alone would come too late: below
// an aggregation, whose groups nobody would ask for, and below the right side of a semi-join, whose rows would travel. Joiners have the
// small table before they see a row of the large one.
//
//	join on k = j                     join on k = j
//	  filter b > 1                      filter b > 1 (s)
//	    s (k, b)                          s (k, b)
//	  group by j: sum(x)    becomes     group by j: sum(x)
//	    r (j, x)                          join semi on j = k
//	                                        r (j, x)
//	                                        the same filter (s)
//
// The small rows must be filtered, or most keys would have a partner. The column may come from a table deeper in the join, such as the
// orders that lineitem is joined with, and be equal to the key only by another condition. Nothing is done unless all tables that are small
// enough for joiners find room there together, because a condition that joiners cannot compute would move the large table to the reducer.
func Keys(roots []plan.Node, s *sizes.Sizes, small int64) []plan.Node {
	sum, seen := int64(0), map[*plan.Table]bool{}
	for _, n := range roots {
		for _, t := range s.Tables(n) {
			if kept := s.Kept(t); !seen[t] && kept <= small {
				if seen[t], sum = true, sum+kept; kept <= 0 {
					return roots
				}
			}
		}
	}
	if sum > small {
		return roots
	}
	k := &keyRule{Sizes: s, small: small, uses: plan.Uses(roots...), done: map[plan.Node]plan.Node{}}
	k.queries = plan.Queries(k.node)
	return all(roots, k.node)
}

type keyRule struct {
	*sizes.Sizes
	small   int64
	uses    map[plan.Node]int
	done    map[plan.Node]plan.Node
	queries func(plan.Expr) plan.Expr
	visits  int // of nodes, in search of sources and of places for them
}

// mostVisits bounds the search. A plan is a graph, and has many more paths than nodes.
const mostVisits = 10_000

func (k *keyRule) node(n plan.Node) plan.Node {
	if to := k.done[n]; to != nil {
		return to
	}
	to := n
	if j, is := n.(*plan.Join); is && len(j.Equal) > 0 {
		to = k.join(j)
	}
	in := plan.Inputs(to)
	for i := range in {
		in[i] = k.node(in[i])
	}
	to = plan.WithExprs(plan.WithInputs(to, in...), k.queries)
	k.done[n], k.done[to] = to, to
	return to
}

// join drops rows of a side whose rows are not kept without a partner.
func (k *keyRule) join(j *plan.Join) plan.Node {
	left, right := make([]plan.Expr, len(j.Equal)), make([]plan.Expr, len(j.Equal))
	for i, p := range j.Equal {
		left[i], right[i] = p[0], p[1]
	}
	switch j.Kind {
	case syntax.Inner:
		if to := k.reduced(j.R, right, j.L, left, true); to != nil {
			return j.With(j.L, to)
		}
		if to := k.reduced(j.L, left, j.R, right, true); to != nil {
			return j.With(to, j.R)
		}
	case syntax.Left:
		if to := k.reduced(j.R, right, j.L, left, true); to != nil {
			return j.With(j.L, to)
		}
	case syntax.Semi, syntax.Anti:
		if to := k.reduced(j.R, right, j.L, left, false); to != nil {
			return j.With(j.L, to)
		}
	}
	return j
}

// reduced returns n without rows whose keys differ from those of all rows of a small source in other; nil if there is none. With grouped,
// only rows below an aggregation are dropped.
func (k *keyRule) reduced(n plan.Node, keys []plan.Expr, other plan.Node, equal []plan.Expr, grouped bool) plan.Node {
	for _, some := range subsets(len(keys)) {
		mine, theirs, same := make([]plan.Expr, len(some)), make([]plan.Expr, len(some)), true
		for i, at := range some {
			mine[i], theirs[i] = keys[at], equal[at]
			same = same && mine[i].Type() == theirs[i].Type()
		}
		if !same {
			continue
		}
		s, of := k.source(other, theirs)
		if s == nil || k.Below(s) >= k.Below(n) || k.streams(s, other) {
			continue
		}
		if to := k.push(n, mine, s, of, !grouped); to != nil {
			return to
		}
	}
	return nil
}

// subsets returns all places together, then each alone.
func subsets(n int) (list [][]int) {
	var every []int
	for i := range n {
		every = append(every, i)
		list = append(list, []int{i})
	}
	if n == 1 {
		return list
	}
	return append([][]int{every}, list...)
}

// streams reports whether the rows of a source may be those that joiners stream past other tables. They cannot have such a table whole,
// too.
func (k *keyRule) streams(s, within plan.Node) bool {
	largest, tables := (*plan.Table)(nil), map[*plan.Table]bool{}
	for _, t := range k.Tables(within) {
		if tables[t] = true; largest == nil || k.Kept(t) > k.Kept(largest) || k.Kept(t) <= 0 {
			largest = t
		}
	}
	asks := false
	plan.Nodes(within, func(n plan.Node) { asks = asks || len(plan.QueriesIn(plan.Exprs(n)...)) > 0 })
	return slices.Contains(k.Tables(s), largest) && (len(tables) > 1 || asks)
}

// source returns the filtered rows of a small table from which the columns of a node come, and these columns there; nil if there are none.
func (k *keyRule) source(n plan.Node, columns []plan.Expr) (plan.Node, []plan.Expr) {
	if k.visits++; k.visits > mostVisits {
		return nil, nil
	}
	for _, c := range columns {
		if _, is := c.(*plan.Column); !is {
			return nil, nil
		}
	}
	switch x := n.(type) {
	case *plan.Filter:
		if kept := k.Below(x); reads(x) && kept > 0 && kept <= k.small && len(plan.QueriesIn(x.Cond)) == 0 {
			return x, columns
		}
		for _, part := range plan.Conjuncts(x.Cond) {
			q, is := part.(*plan.Subquery)
			if is && q.In && len(columns) == 1 && plan.SameColumn(q.X, columns[0]) {
				f := q.Plan.Fields()[0]
				if s, _ := k.source(q.Plan, []plan.Expr{f.Ref(q.At)}); s != nil && f.Type == q.X.Type() {
					return q.Plan, []plan.Expr{f.Ref(q.At)}
				}
			}
		}
		return k.source(x.Input, columns)
	case *plan.Project:
		by, below := x.Columns(), make([]plan.Expr, len(columns))
		for i, c := range columns {
			below[i] = plan.Substitute(c, by)
		}
		return k.source(x.Input, below)
	case *plan.Join:
		for _, side := range []struct {
			n   plan.Node
			at  plan.Side
			may bool
		}{{x.L, plan.Left, x.Kind != syntax.Right && x.Kind != syntax.Full},
			{x.R, plan.Right, x.Kind == syntax.Inner || x.Kind == syntax.Semi || x.Kind == syntax.Right}} {
			if own := ofSide(x, columns, side.at); side.may && own != nil {
				if s, of := k.source(side.n, own); s != nil {
					return s, of
				}
			}
		}
	}
	return nil, nil
}

// ofSide returns columns of one side that have the values of the given columns in all joined rows; nil if there are none.
func ofSide(j *plan.Join, columns []plan.Expr, side plan.Side) (own []plan.Expr) {
	from, to := 1, 0
	if side == plan.Right {
		from, to = 0, 1
	}
	for _, c := range columns {
		if j.Side(c) == side && (side == plan.Left || j.Kind != syntax.Semi) {
			own = append(own, c)
			continue
		}
		at := slices.IndexFunc(j.Equal, func(p [2]plan.Expr) bool {
			return plan.SameColumn(p[from], c) && p[0].Type() == p[1].Type()
		})
		if at < 0 || j.Kind != syntax.Inner && j.Kind != syntax.Semi {
			return nil
		}
		own = append(own, j.Equal[at][to])
	}
	return own
}

// push returns a node without rows whose keys are in no row of s, as far down as that is possible; nil if it is not possible. Outside
// aggregations it drops rows only with free.
func (k *keyRule) push(n plan.Node, keys []plan.Expr, s plan.Node, of []plan.Expr, free bool) plan.Node {
	for _, e := range keys {
		if !plan.Pushable(e) {
			return nil
		}
	}
	if k.visits++; k.visits > mostVisits || k.uses[n] > 1 && !reads(n) {
		return nil // it is computed once for all nodes that read it
	}
	switch x := n.(type) {
	case *plan.Aggregation:
		below := make([]plan.Expr, len(keys))
		for i, e := range keys {
			c, is := e.(*plan.Column)
			at := slices.IndexFunc(x.Out[:len(x.Keys)], func(f plan.Field) bool { return is && f.ID == c.ID })
			if at < 0 || len(x.Sets) != 1 || len(x.Sets[0]) != len(x.Keys) {
				return nil
			}
			below[i] = x.Keys[at]
		}
		if in := k.push(x.Input, below, s, of, true); in != nil {
			return plan.WithInputs(x, in)
		}
		return nil
	case *plan.Project:
		by, below := x.Columns(), make([]plan.Expr, len(keys))
		for i, e := range keys {
			below[i] = plan.Substitute(e, by)
		}
		if in := k.push(x.Input, below, s, of, free); in != nil {
			return plan.WithInputs(x, in)
		}
		return nil
	case *plan.Filter:
		if !reads(x) {
			if in := k.push(x.Input, keys, s, of, free); in != nil {
				return plan.WithInputs(x, in)
			}
			return nil
		}
	case *plan.Join:
		if own := ofSide(x, keys, plan.Left); own != nil && x.Kind != syntax.Right && x.Kind != syntax.Full {
			if in := k.push(x.L, own, s, of, free); in != nil {
				return x.With(in, x.R)
			}
		}
		if own := ofSide(x, keys, plan.Right); own != nil && x.Kind == syntax.Inner {
			if in := k.push(x.R, own, s, of, free); in != nil {
				return x.With(x.L, in)
			}
		}
		return nil
	case *plan.Scan:
	default:
		return nil
	}
	theirs := plan.SetOf(s.Fields())
	if !free || k.Below(s) >= k.Below(n) || slices.ContainsFunc(n.Fields(), func(f plan.Field) bool { return theirs.Has(f.ID) }) {
		return nil
	}
	j := plan.NewJoin(syntax.Semi, n, s)
	for i := range keys {
		j.Equal = append(j.Equal, [2]plan.Expr{keys[i], of[i]})
	}
	return j
}
