package optimize

import (
	"cmp"
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// arranger reorders inner joins where the order of their rows does not matter: below an aggregation whose result does not
// depend on it. First each large relation is joined with its small partners, so that it stays a leaf. Then the largest
// relation is joined with the others, which the reducer keeps in memory. A join may get its columns in another order.
type arranger struct {
	*sizes.Sizes
	small   int64                   // the most bytes of small tables together
	done    map[plan.Node]plan.Node // the replacements of nodes that several others read
	queries func(plan.Expr) plan.Expr
}

// Arrange orders joins by the sizes of tables. small bounds the bytes that count as small, all tables together.
//
//	join                            join
//	  join              becomes       join
//	    nation (small)                  lineitem (large)
//	    lineitem (large)                nation (small)
//	  region (small)                  region (small)
func Arrange(roots []plan.Node, s *sizes.Sizes, small int64) []plan.Node {
	a := &arranger{Sizes: s, small: small, done: map[plan.Node]plan.Node{}}
	below := func(n plan.Node) plan.Node { return a.node(n, false) }
	a.queries = plan.Queries(below)
	return all(roots, below)
}

// node returns the replacement of a node. With free, the order of its rows and columns may change.
func (a *arranger) node(n plan.Node, free bool) plan.Node {
	if a.Uses()[n] < 2 {
		return a.below(n, free)
	}
	if a.done[n] == nil { // several nodes read the columns at their present places
		a.done[n] = a.below(n, false)
	}
	return a.done[n]
}

func (a *arranger) below(n plan.Node, free bool) plan.Node {
	n = plan.WithExprs(n, a.queries)
	left, right := false, false // whether the order of this input may change
	switch n := n.(type) {
	case *plan.Filter, *plan.Project, *plan.Unnest:
		left = free
	case *plan.Aggregation:
		left = !slices.ContainsFunc(n.Aggs, aggregate.SeesOrder)
	case *plan.Join:
		if free {
			if g := a.groupOf(n); g != nil {
				return g.arranged()
			}
		}
		left, right = free, free || n.Kind == syntax.Semi || n.Kind == syntax.Anti
	}
	in := plan.Inputs(n)
	for i := range in {
		in[i] = a.node(in[i], i == 0 && left || i == 1 && right)
	}
	return plan.WithInputs(n, in...)
}

// group is a set of relations that inner joins combine, and all their conditions.
type group struct {
	*arranger
	relations []relation
	parts     []condition
}

// relation is what a group joins: a table, perhaps filtered, or any other node.
type relation struct {
	node    plan.Node
	bytes   int64 // the size of its tables
	small   bool
	set     uint64 // the set that contains only this relation
	columns plan.Set
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
	var take func(n plan.Node)
	take = func(n plan.Node) {
		j, ok := n.(*plan.Join)
		if !ok || j.Kind != syntax.Inner && j.Kind != syntax.Cross || a.Uses()[n] > 1 {
			bytes := a.Below(n)
			fits = fits && bytes >= 0
			g.relations = append(g.relations, relation{node: n, bytes: bytes, small: bytes <= a.small})
			return
		}
		take(j.L)
		take(j.R)
		for _, p := range j.Equal {
			fits = fits && !plan.MayFail(p[0]) && !plan.MayFail(p[1])
			g.parts = append(g.parts, condition{l: p[0], r: p[1]})
		}
		if j.Rest != nil {
			fits = fits && !plan.MayFail(j.Rest) && len(plan.QueriesIn(j.Rest)) == 0
			g.parts = append(g.parts, condition{l: j.Rest})
		}
	}
	take(n)
	if !fits || len(g.relations) < fewRelations || len(g.relations) > mostRelations {
		return nil
	}
	return g
}

// arranged joins the relations again.
func (g *group) arranged() plan.Node {
	budget := g.small
	for i := range g.relations {
		r := &g.relations[i]
		r.set = 1 << i
		r.node = g.node(r.node, true)
		r.columns = plan.SetOf(r.node.Fields())
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
	return all.node
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
	out := relation{bytes: l.bytes + r.bytes, small: l.small && r.small, set: l.set | r.set}
	j := plan.NewJoin(syntax.Inner, l.node, r.node)
	for i := range g.parts {
		p := &g.parts[i]
		if p.used || (p.lset|p.rset)&^out.set != 0 {
			continue
		}
		p.used = true
		switch {
		case p.r != nil && p.lset != 0 && p.rset != 0 && p.lset&^l.set == 0 && p.rset&^r.set == 0:
			j.Equal = append(j.Equal, [2]plan.Expr{p.l, p.r})
		case p.r != nil && p.lset != 0 && p.rset != 0 && p.lset&^r.set == 0 && p.rset&^l.set == 0:
			j.Equal = append(j.Equal, [2]plan.Expr{p.r, p.l})
		default:
			cond := p.l
			if p.r != nil {
				cond = plan.Call(types.Of(types.Bool), p.l.Pos(), "=", p.l, p.r)
			}
			if j.Rest != nil {
				cond = plan.Call(types.Of(types.Bool), cond.Pos(), "AND", j.Rest, cond)
			}
			j.Rest = cond
		}
	}
	if len(j.Equal) == 0 && j.Rest == nil {
		j.Kind = syntax.Cross
	}
	out.node = j
	return out
}

// reads returns the relations whose columns an expression reads.
func (g *group) reads(e plan.Expr) (set uint64) {
	if e == nil {
		return 0
	}
	plan.Walk(func(e plan.Expr) {
		c, is := e.(*plan.Column)
		for i := range g.relations {
			if is && g.relations[i].columns.Has(c.ID) {
				set |= 1 << i
			}
		}
	}, e)
	return set
}
