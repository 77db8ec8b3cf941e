package split

import (
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/optimize"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/values"
)

// A join of large tables is partitioned: the rows of both sides travel to the aggregator that owns the hash of their keys. When
// both sides are complete, package operators joins them there. A region is a part of the plan that is computed in this way. All its
// joins and groups use the same keys, so each aggregator computes its part alone. What follows is folded in the aggregator, as a
// joiner folds the rows of a leaf, and only folded rows travel to the reducer.
//
// A region is used where the order of the joined rows does not matter: below an aggregation that does not depend on their order, or
// where its rows are groups, which are ordered by their keys. The reducer computes all other joins.

// PartitionFrom is the estimated number of bytes from which on tables are joined in the aggregators, unless the plan sets another
// one. Rows of smaller tables reach the reducer as soon.
const PartitionFrom = 16 << 20

// maxWaiting bounds the estimated number of bytes that wait in the aggregators for the joins of several statements together. A session
// fails if more than limits.memory waits in one aggregator, 1 GiB unless it is set, and its statements then begin again, one by one.
const maxWaiting = 512 << 20

// regionOf returns the region whose rows a node folds or filters, nil if there is none.
func (s *statement) regionOf(n plan.Node) *exec.Region {
	if a, ok := n.(*plan.Aggregation); ok {
		if g := exec.NewGroups(a); g != nil && !g.Positioned() && !g.Apart() {
			if r := s.regionBelow(a.Input); r != nil {
				r.Leaf.Keep, r.Leaf.Groups = exec.KeepGroups, g
				return s.finished(r, n)
			}
		}
	}
	if r := s.regionBelow(n); r != nil && r.Keys > 0 {
		r.Leaf.Keep = exec.KeepRows
		return s.finished(r, n)
	}
	return nil
}

// bestOf returns a region whose groups are ordered with a LIMIT, so that only the best are needed; nil if there is none.
func (s *statement) bestOf(n plan.Node, b *exec.Best) *exec.Region {
	r := s.regionBelow(n)
	if r == nil || r.Keys == 0 {
		return nil
	}
	r.Leaf.Keep, r.Leaf.Best = exec.KeepBest, b
	return s.finished(r, n)
}

// finished notes a region and its sources.
func (s *statement) finished(r *exec.Region, n plan.Node) *exec.Region {
	r.Leaf.Node, r.Leaf.Fields, r.Leaf.Needed = n, n.Fields(), s.travelling(n)
	r.Leaf.Region = r
	s.Regions = append(s.Regions, r)
	s.ByNode[n] = r.Leaf
	for _, l := range r.Sources {
		s.Leaves = append(s.Leaves, l)
		s.read(l)
	}
	return r
}

// regionBelow returns the region of the join, or of the groups of a join, that a node reads through only filters and
// projections.
func (s *statement) regionBelow(n plan.Node) *exec.Region {
	l := &exec.Leaf{Refs: map[*plan.Table]bool{}}
	for {
		switch x := n.(type) {
		case *plan.Filter:
			if m := optimize.SemiJoin(x, s.whole); m != nil {
				n = m
				continue
			}
			if !exec.Computed(x.Cond) {
				return nil
			}
			l.Steps, n = append(l.Steps, x), x.Input
			continue
		case *plan.Project:
			if slices.ContainsFunc(x.Exprs, func(e plan.Expr) bool { return !exec.Computed(e) }) {
				return nil
			}
			l.Steps, n = append(l.Steps, x), x.Input
			continue
		case *plan.Join, *plan.Aggregation:
			slices.Reverse(l.Steps)
			r := s.regionFrom(n)
			if r != nil {
				r.Leaf, l.From = l, r.Base
			}
			return r
		}
		return nil
	}
}

// whole reports whether a node is computed as a whole, where the rows of its table are, or for several nodes.
func (s *statement) whole(n plan.Node) bool { return s.Uses()[n] > 1 || s.chain(n) != nil }

// regionFrom returns a region whose joins and groups all use some of the keys of a node; nil if there is none.
func (s *statement) regionFrom(n plan.Node) *exec.Region {
	for _, keys := range candidates(n) {
		r := &exec.Region{Of: map[plan.Node]int{}, Early: map[plan.Node]bool{}, By: keys}
		base, ok := s.partition(r, n, keys, false)
		if !ok || !r.Joins || !s.worthPartitioning(r) {
			continue
		}
		r.Base = base
		if a, is := base.(*plan.Aggregation); is {
			r.Keys = len(a.Keys)
		}
		return r
	}
	return nil
}

// worthPartitioning reports whether the tables of a region are large, or of unknown size.
func (s *statement) worthPartitioning(r *exec.Region) bool {
	from := s.of.PartitionFrom
	switch {
	case from < 0:
		return false
	case from == 0:
		from = PartitionFrom
	}
	sum := int64(0)
	for _, l := range r.Sources {
		bytes := s.Read(l.Scan.Of)
		if bytes == 0 {
			return true
		}
		sum += bytes
	}
	return sum >= from
}

// candidates returns the keys by which the rows of a node may be partitioned, over the node's columns: first all together, then each
// alone.
func candidates(n plan.Node) (all [][]plan.Expr) {
	var keys []plan.Expr
	switch n := n.(type) {
	case *plan.Join:
		for _, p := range n.Equal {
			if n.Kind == syntax.Right {
				keys = append(keys, p[1])
			} else {
				keys = append(keys, p[0])
			}
		}
	case *plan.Aggregation:
		keys = n.KeyColumns()
	}
	if len(keys) == 0 || len(keys) > mostPartitionKeys {
		return nil
	}
	all = append(all, keys)
	if len(keys) > 1 {
		for _, k := range keys {
			all = append(all, []plan.Expr{k})
		}
	}
	return all
}

// mostVisits bounds how many nodes a search for regions visits. A plan is a graph, and has many more paths than nodes.
const mostVisits = 1000

// mostPartitionKeys bounds how many keys are tried.
const mostPartitionKeys = 8

// partition returns a node that can be computed in each partition by keys, over its columns, without the others. It notes in the
// region what the aggregators need from the joiners. With drop, rows that are NULL in a key are not needed.
func (s *statement) partition(r *exec.Region, n plan.Node, keys []plan.Expr, drop bool) (plan.Node, bool) {
	if s.visits++; s.visits > mostVisits {
		return nil, false
	}
	for _, k := range keys {
		if !values.Ordered(k.Type().Kind) || !exec.Computed(k) {
			return nil, false
		}
	}
	if l := s.sourceOf(n, keys); l != nil {
		l.Node, l.Parts, l.DropNull = n, keys, drop
		if at, had := r.Of[n]; had {
			old := r.Sources[at]
			old.DropNull = old.DropNull && drop
			return n, slices.EqualFunc(old.Parts, keys, plan.SameColumn)
		}
		if at := slices.IndexFunc(r.Sources, func(old *exec.Leaf) bool { return sameGroups(old, l) }); at >= 0 {
			r.Of[n] = at
			return n, true
		}
		r.Of[n] = len(r.Sources)
		r.Sources = append(r.Sources, l)
		return n, true
	}
	switch x := n.(type) {
	case *plan.Filter:
		if m := optimize.SemiJoin(x, s.whole); m != nil {
			return s.partition(r, m, keys, drop)
		}
		in, ok := s.partition(r, x.Input, keys, drop)
		return &plan.Filter{Input: in, Cond: x.Cond}, ok && exec.Computed(x.Cond)
	case *plan.Project:
		below, by := make([]plan.Expr, len(keys)), x.Columns()
		for i, k := range keys {
			below[i] = plan.Substitute(k, by)
		}
		in, ok := s.partition(r, x.Input, below, drop)
		ok = ok && !slices.ContainsFunc(x.Exprs, func(e plan.Expr) bool { return !exec.Computed(e) })
		return &plan.Project{Input: in, Exprs: x.Exprs, Out: x.Out}, ok
	case *plan.Distinct:
		in, ok := s.partition(r, x.Input, keys, drop)
		return &plan.Distinct{Input: in}, ok && len(x.On) == 0
	case *plan.Aggregation:
		return s.partitionGroups(r, x, keys, drop)
	case *plan.Join:
		return s.partitionJoin(r, x, keys)
	}
	return nil, false
}

// sourceOf returns a leaf for a node whose rows joiners send to the aggregators; nil if the node cannot be one.
func (s *statement) sourceOf(n plan.Node, keys []plan.Expr) *exec.Leaf {
	if a, ok := n.(*plan.Aggregation); ok {
		l := s.leafOf(n)
		if l == nil || len(a.Keys) != len(keys) || l.Groups.Positioned() {
			return nil
		}
		for i, k := range keys {
			if c, ok := k.(*plan.Column); !ok || c.ID != a.Out[i].ID {
				return nil
			}
		}
		return l
	}
	l := s.chain(n)
	if l != nil {
		l.Keep = exec.KeepParts
	}
	return l
}

// sameGroups reports whether two leaves fold the same rows of a table into the same groups. It may return false for others that are
// the same.
func sameGroups(a, b *exec.Leaf) bool {
	if a.Keep != exec.KeepGroups || b.Keep != exec.KeepGroups {
		return false
	}
	x, y := a.Groups.Node, b.Groups.Node
	in, ok := x.Input.(*plan.Scan)
	other, also := y.Input.(*plan.Scan)
	if x.Input != y.Input && !(ok && also && in.Table == other.Table) {
		return false
	}
	same := func(e, f plan.Expr) bool { return plan.SameColumn(a.ByPlace(e), b.ByPlace(f)) }
	return slices.EqualFunc(x.Keys, y.Keys, same) && slices.EqualFunc(x.Aggs, y.Aggs, func(a, b *plan.Aggregate) bool {
		return a.Func == b.Func && a.Distinct == b.Distinct && a.Filter == nil && b.Filter == nil && len(a.Order)+len(b.Order) == 0 &&
			slices.EqualFunc(a.Args, b.Args, same)
	})
}

// partitionGroups partitions groups by some of their keys, so that all rows of a group are in one partition.
func (s *statement) partitionGroups(r *exec.Region, n *plan.Aggregation, keys []plan.Expr, drop bool) (plan.Node, bool) {
	if len(n.Sets) != 1 || len(n.Sets[0]) != len(n.Keys) || slices.ContainsFunc(n.Aggs, aggregate.SeesOrder) {
		return nil, false
	}
	for _, a := range n.Aggs {
		if a.Filter != nil && !exec.Computed(a.Filter) || slices.ContainsFunc(a.Args, func(e plan.Expr) bool { return !exec.Computed(e) }) ||
			len(a.Order) > 0 {
			return nil, false
		}
	}
	below := make([]plan.Expr, len(keys))
	for i, k := range keys {
		c, ok := k.(*plan.Column)
		at := slices.IndexFunc(n.Out[:len(n.Keys)], func(f plan.Field) bool { return ok && f.ID == c.ID })
		if at < 0 {
			return nil, false
		}
		below[i] = n.Keys[at]
	}
	if slices.ContainsFunc(n.Keys, func(e plan.Expr) bool { return !exec.Computed(e) }) {
		return nil, false
	}
	early := optimize.Early{Sizes: s.Sizes, IDs: s.ids, Reads: func(n plan.Node) bool { return s.chain(n) != nil },
		Groups: func(g *plan.Aggregation) bool { return s.sourceOf(g, g.KeyColumns()) != nil }}
	if to, grouped := early.Group(n, below); to != nil {
		n, r.Early[grouped] = to, true
	}
	in, ok := s.partition(r, n.Input, below, drop)
	return &plan.Aggregation{Input: in, Keys: n.Keys, Sets: n.Sets, Aggs: n.Aggs, Out: n.Out}, ok
}

// partitionJoin partitions both sides of a join by the same keys. A row without a partner is NULL in the columns of the other side,
// so an outer join is partitioned only by keys of the side whose rows it keeps.
func (s *statement) partitionJoin(r *exec.Region, n *plan.Join, keys []plan.Expr) (plan.Node, bool) {
	byLeft, byRight := true, n.Kind == syntax.Inner
	switch n.Kind {
	case syntax.Inner, syntax.Left, syntax.Semi, syntax.Anti:
	case syntax.Right:
		byLeft, byRight = false, true
	case syntax.Full: // no node above may rely on a partition of its rows
		byLeft = slices.EqualFunc(keys, r.By, func(a, b plan.Expr) bool { return a == b })
	default:
		return nil, false
	}
	for _, e := range plan.Exprs(n) {
		if !exec.Computed(e) {
			return nil, false
		}
	}
	left, right := make([]plan.Expr, len(keys)), make([]plan.Expr, len(keys))
	for i, k := range keys {
		at := slices.IndexFunc(n.Equal, func(p [2]plan.Expr) bool {
			return p[0].Type() == p[1].Type() && (byLeft && plan.SameColumn(p[0], k) || byRight && plan.SameColumn(p[1], k))
		})
		if at < 0 {
			return nil, false
		}
		left[i], right[i] = n.Equal[at][0], n.Equal[at][1]
	}
	r.Joins = true
	full := n.Kind == syntax.Full
	l, ok := s.partition(r, n.L, left, n.Kind == syntax.Inner || n.Kind == syntax.Semi || n.Kind == syntax.Right)
	if !ok {
		return nil, false
	}
	rr, ok := s.partition(r, n.R, right, !full && n.Kind != syntax.Right)
	if !ok {
		return nil, false
	}
	return n.With(l, rr), true
}

// explainRegions describes what aggregators compute.
func (s *statement) explainRegions(b *strings.Builder) {
	for _, r := range s.Regions {
		fmt.Fprintf(b, "  aggregators: %s\n", describeRegion(r, func(l *exec.Leaf) string {
			if bytes := s.Read(l.Scan.Of); bytes > 0 {
				return " (" + exec.About(bytes) + ")"
			}
			return " (of unknown size)"
		}))
	}
}

// describe describes what aggregators do with the rows of a region, and why. size says how large what waits of a source is.
func describeRegion(r *exec.Region, size func(*exec.Leaf) string) string {
	var sources []string
	for _, l := range r.Sources {
		what := "rows of "
		if l.Keep == exec.KeepGroups {
			what = "groups of "
		}
		sources = append(sources, what+l.Scan.Table.Name+size(l))
	}
	return fmt.Sprintf("join %s, partitioned by %s, none of them small; %s", strings.Join(sources, ", "), r.KeyNames(), describeLeaf(r.Leaf))
}
