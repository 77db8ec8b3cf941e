package compile

import (
	"cmp"
	"slices"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// arranger reorders inner joins where the order of their rows does not matter: below an aggregation whose result does not
// depend on it. First each large relation is joined with its small partners, so that it stays a leaf. Then the largest
// relation is joined with the others, which the reducer keeps in memory. arranger changes the nodes in place. Its methods
// return the new indexes of a node's columns, or nil if they have not moved.
type arranger struct {
	*statement
	done map[plan.Node]bool
}

func (s *statement) arrange() {
	a := &arranger{s, map[plan.Node]bool{}}
	for _, r := range s.roots {
		a.node(r.plan, false)
	}
}

// node arranges the joins below a node. With free, the order of the node's rows and columns may change.
func (a *arranger) node(n plan.Node, free bool) (plan.Node, []int) {
	if a.uses[n] > 1 {
		if a.done[n] {
			return n, nil
		}
		a.done[n] = true
		free = false // several nodes read the columns at their present indexes
	}
	a.queries(n)
	switch n := n.(type) {
	case *plan.Filter:
		in, moved := a.node(n.Input, free)
		n.Input = in
		move(moved, &n.Cond)
		return n, moved
	case *plan.Project:
		in, moved := a.node(n.Input, free)
		n.Input = in
		for i := range n.Exprs {
			move(moved, &n.Exprs[i])
		}
	case *plan.Aggregation:
		in, moved := a.node(n.Input, !slices.ContainsFunc(n.Aggs, seesOrder))
		n.Input = in
		for i := range n.Keys {
			move(moved, &n.Keys[i])
		}
		for i := range n.Aggs {
			e := plan.Expr(n.Aggs[i])
			move(moved, &e)
			n.Aggs[i] = e.(*plan.Aggregate)
		}
	case *plan.Unnest:
		in, moved := a.node(n.Input, free)
		n.Input = in
		for i := range n.Lists {
			move(moved, &n.Lists[i])
		}
		if moved == nil {
			return n, nil
		}
		w := len(moved)
		plan.Giving(n, append(slices.Clone(in.Fields()), n.Fields()[w:]...))
		moved = slices.Clone(moved)
		for i := range n.Lists {
			moved = append(moved, w+i)
		}
		return n, moved
	case *plan.Join:
		if free {
			if g := a.groupOf(n); g != nil {
				return g.arranged()
			}
		}
		return n, a.join(n, free)
	case *plan.Sort:
		n.Input, _ = a.node(n.Input, false)
	case *plan.Limit:
		n.Input, _ = a.node(n.Input, false)
	case *plan.Distinct:
		n.Input, _ = a.node(n.Input, false)
	case *plan.Windows:
		n.Input, _ = a.node(n.Input, false)
	case *plan.SetOp:
		n.L, _ = a.node(n.L, false)
		n.R, _ = a.node(n.R, false)
	}
	return n, nil
}

// queries arranges the queries that are used as values in a node.
func (a *arranger) queries(n plan.Node) {
	for _, query := range queries(plan.Exprs(n)) {
		a.node(query, false)
	}
}

// join arranges the sides of a join that stays where it is.
func (a *arranger) join(n *plan.Join, free bool) []int {
	half := n.Kind == syntax.Semi || n.Kind == syntax.Anti
	l, left := a.node(n.L, free)
	r, right := a.node(n.R, free || half)
	if left == nil && right == nil {
		n.L, n.R = l, r
		return nil
	}
	moved := append(here(left, len(l.Fields())), here(right, len(r.Fields()))...)
	for i := range n.Equal {
		move(left, &n.Equal[i][0])
		move(right, &n.Equal[i][1])
	}
	w := len(l.Fields())
	for i := w; i < len(moved); i++ {
		moved[i] += w
	}
	if n.Rest != nil {
		move(moved, &n.Rest)
	}
	n.L, n.R = l, r
	out := append(slices.Clone(l.Fields()), r.Fields()...)
	if half {
		out, moved = out[:w], moved[:w]
	}
	plan.Giving(n, out)
	return moved
}

// here returns the new indexes of columns, even if they have not moved.
func here(moved []int, n int) []int {
	if moved != nil {
		return slices.Clone(moved)
	}
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// move makes an expression read columns at their new indexes.
func move(moved []int, e *plan.Expr) {
	if moved == nil {
		return
	}
	*e = plan.Rewrite(func(e plan.Expr) (plan.Expr, bool) {
		c, ok := e.(*plan.Column)
		if !ok {
			return nil, false
		}
		return plan.Typed(&plan.Column{Index: moved[c.Index], Name: c.Name}, c.T, c.At), true
	})(*e)
}

// seesOrder reports whether an aggregate depends on the order of its rows.
func seesOrder(a *plan.Aggregate) bool {
	switch a.Func {
	case "count", "sum", "avg", "min", "max", "bool_and", "bool_or", "median", "quantile_cont", "quantile_disc", "approx_count_distinct":
		return false
	}
	return true
}

// group is a set of relations that inner joins combine, and all their conditions. The conditions number the columns of all
// relations consecutively.
type group struct {
	*arranger
	relations []relation
	parts     []condition
}

// relation is what a group joins: a table, perhaps filtered, or any other node.
type relation struct {
	node  plan.Node
	at    int   // the index of its first column
	bytes int64 // the size of its tables
	small bool
	set   uint64 // the set that contains only this relation
	cols  []int  // after it is joined: its columns in their order, by their numbers in the group
}

// condition is an equality of two expressions, or, if r is nil, any other condition.
type condition struct {
	l, r       plan.Expr
	lset, rset uint64
	used       bool
}

const (
	fewRelations  = 3 // two relations have only one useful order
	mostRelations = 60
)

// groupOf splits nested joins into a group. It returns nil if they should stay as they are.
func (a *arranger) groupOf(n *plan.Join) *group {
	g := &group{arranger: a}
	fits := true
	var take func(n plan.Node, at int)
	take = func(n plan.Node, at int) {
		j, ok := n.(*plan.Join)
		if !ok || j.Kind != syntax.Inner && j.Kind != syntax.Cross || a.uses[n] > 1 {
			bytes := a.bytes(n)
			fits = fits && bytes >= 0
			g.relations = append(g.relations, relation{node: n, at: at, bytes: bytes, small: bytes <= MaxReference})
			return
		}
		take(j.L, at)
		right := at + len(j.L.Fields())
		take(j.R, right)
		for _, p := range j.Equal {
			fits = fits && !plan.MayFail(p[0]) && !plan.MayFail(p[1])
			g.parts = append(g.parts, condition{l: shifted(p[0], at), r: shifted(p[1], right)})
		}
		if j.Rest != nil {
			fits = fits && !plan.MayFail(j.Rest) && len(queries([]plan.Expr{j.Rest})) == 0
			g.parts = append(g.parts, condition{l: shifted(j.Rest, at)})
		}
	}
	take(n, 0)
	if !fits || len(g.relations) < fewRelations || len(g.relations) > mostRelations {
		return nil
	}
	return g
}

func shifted(e plan.Expr, by int) plan.Expr {
	return plan.Rewrite(func(e plan.Expr) (plan.Expr, bool) {
		c, ok := e.(*plan.Column)
		if !ok {
			return nil, false
		}
		return plan.Typed(&plan.Column{Index: c.Index + by, Name: c.Name}, c.T, c.At), true
	})(e)
}

// arranged joins the relations again.
func (g *group) arranged() (plan.Node, []int) {
	budget := int64(MaxReference)
	for i := range g.relations {
		r := &g.relations[i]
		r.set = 1 << i
		n, moved := g.node(r.node, true)
		r.node = n
		r.cols = make([]int, len(n.Fields()))
		for old, now := range here(moved, len(r.cols)) {
			r.cols[now] = r.at + old
		}
	}
	for i := range g.parts {
		p := &g.parts[i]
		p.lset, p.rset = g.reads(p.l), g.reads(p.r)
	}
	left := slices.Clone(g.relations)
	slices.SortStableFunc(left, func(a, b relation) int { return cmp.Compare(a.bytes, b.bytes) })
	for i := range left { // the smallest fit first; the largest of all never becomes a small one
		if budget -= left[i].bytes; budget < 0 || i == len(left)-1 {
			left[i].small = false
		}
	}
	left = g.hang(left)
	var large, small []relation
	for _, r := range left {
		if r.small {
			small = append(small, r)
		} else {
			large = append(large, r)
		}
	}
	slices.Reverse(large) // the largest first
	// A small relation is joined with the large one with which it shares a condition, if there is one. Joined by a condition
	// with another small relation, a row might find many partners: a customer would find all suppliers of its nation.
	for i := range large {
		large[i], small = g.gathered(large[i], large[i].set, small)
	}
	for left := -1; left != len(small); {
		left = len(small)
		for i := range large {
			large[i], small = g.gathered(large[i], large[i].set, small)
		}
	}
	all := large[0]
	rest := append(large[1:], small...)
	for len(rest) > 0 {
		next := 0
		for i := range rest {
			next = i
			if g.connected(all.set, rest[i].set) {
				break
			}
			if i == len(rest)-1 {
				next = 0
			}
		}
		all, rest = g.pair(all, rest[next]), slices.Delete(rest, next, next+1)
	}
	moved := make([]int, len(all.cols))
	for now, old := range all.cols {
		moved[old] = now
	}
	return all.node, moved
}

// gathered joins a relation with the small ones that have an equality with one of the relations in part.
func (g *group) gathered(to relation, part uint64, small []relation) (relation, []relation) {
	var others []relation
	for _, r := range small {
		if g.connected(part, r.set) {
			to = g.pair(to, r)
		} else {
			others = append(others, r)
		}
	}
	return to, others
}

// hang joins each small relation that has conditions with only one other relation to that one, if it is not smaller: a region
// to its nation.
func (g *group) hang(left []relation) []relation {
	for again := true; again; {
		again = false
		for i := 0; i < len(left) && !again; i++ {
			only, partners := -1, 0
			for k := range left {
				if k != i && g.connected(left[i].set, left[k].set) {
					only, partners = k, partners+1
				}
			}
			if partners == 1 && left[i].small && left[only].small && left[i].bytes <= left[only].bytes {
				left[only] = g.pair(left[only], left[i])
				left, again = slices.Delete(left, i, i+1), true
			}
		}
	}
	return left
}

// connected reports whether an equality compares the two sets of relations.
func (g *group) connected(a, b uint64) bool {
	for _, p := range g.parts {
		if p.r != nil && !p.used && p.lset != 0 && p.rset != 0 && (p.lset&^a == 0 && p.rset&^b == 0 || p.lset&^b == 0 && p.rset&^a == 0) {
			return true
		}
	}
	return false
}

// pair joins two relations by every condition that reads both.
func (g *group) pair(l, r relation) relation {
	out := relation{bytes: l.bytes + r.bytes, small: l.small && r.small, set: l.set | r.set, cols: append(slices.Clone(l.cols), r.cols...)}
	j := &plan.Join{Kind: syntax.Inner, L: l.node, R: r.node}
	in := func(e plan.Expr, cols []int) plan.Expr {
		at := map[int]int{}
		for now, old := range cols {
			at[old] = now
		}
		return plan.Rewrite(func(e plan.Expr) (plan.Expr, bool) {
			c, ok := e.(*plan.Column)
			if !ok {
				return nil, false
			}
			return plan.Typed(&plan.Column{Index: at[c.Index], Name: c.Name}, c.T, c.At), true
		})(e)
	}
	for i := range g.parts {
		p := &g.parts[i]
		if p.used || (p.lset|p.rset)&^out.set != 0 {
			continue
		}
		p.used = true
		switch {
		case p.r != nil && p.lset != 0 && p.rset != 0 && p.lset&^l.set == 0 && p.rset&^r.set == 0:
			j.Equal = append(j.Equal, [2]plan.Expr{in(p.l, l.cols), in(p.r, r.cols)})
		case p.r != nil && p.lset != 0 && p.rset != 0 && p.lset&^r.set == 0 && p.rset&^l.set == 0:
			j.Equal = append(j.Equal, [2]plan.Expr{in(p.r, l.cols), in(p.l, r.cols)})
		default:
			cond := p.l
			if p.r != nil {
				cond = plan.Call(types.Of(types.Bool), p.l.Pos(), "=", p.l, p.r)
			}
			if cond = in(cond, out.cols); j.Rest != nil {
				cond = plan.Call(types.Of(types.Bool), cond.Pos(), "AND", j.Rest, cond)
			}
			j.Rest = cond
		}
	}
	if len(j.Equal) == 0 && j.Rest == nil {
		j.Kind = syntax.Cross
	}
	out.node = plan.Giving(j, append(slices.Clone(l.node.Fields()), r.node.Fields()...))
	return out
}

// reads returns the relations whose columns an expression reads.
func (g *group) reads(e plan.Expr) (set uint64) {
	if e == nil {
		return 0
	}
	last := g.relations[len(g.relations)-1]
	live := make([]bool, last.at+len(last.node.Fields()))
	plan.Mark(live, e)
	for i, r := range g.relations {
		if slices.Contains(live[r.at:r.at+len(r.node.Fields())], true) {
			set |= 1 << i
		}
	}
	return set
}
