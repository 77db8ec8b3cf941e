package split

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// A join of a table with small ones is computed where the rows of the table are (a broadcast join). The small tables are
// reference streams, which every joiner has whole (R11). So only the joined rows travel, or the groups that they are folded
// into. The small side need not be a table: with package operators, a joiner computes any plan over small tables, and any query that
// is used as a value.
// MaxReference bounds the bytes of all values that are read from small tables together, as estimated from the sizes of files
// and from samples.
const MaxReference = 64 << 20

// broadcast returns the step that computes a join where the rows of one of its sides are, nil if the other side is not small.
func (s *statement) broadcast(n *plan.Join, l *exec.Leaf) *exec.Broadcast {
	for _, e := range plan.Exprs(n) {
		if !s.computed(e, l) {
			return nil
		}
	}
	left, right := false, false // whether the rows of this side may be streamed past the other side
	switch n.Kind {
	case syntax.Inner, syntax.Cross:
		left, right = true, true
	case syntax.Left, syntax.Semi, syntax.Anti:
		left = true
	case syntax.Right:
		right = true
	}
	left, right = left && s.fits(n.R, l) && !s.streamed(n.L, n.R), right && s.fits(n.L, l) && !s.streamed(n.R, n.L)
	if left && right && s.Below(n.L) != s.Below(n.R) {
		left = s.Below(n.L) > s.Below(n.R)
	}
	switch {
	case left:
		s.collect(n.R, l.Refs)
		return &exec.Broadcast{Join: n, Of: n}
	case right:
		s.collect(n.L, l.Refs)
		return &exec.Broadcast{Join: swapped(n), Of: n, Swapped: true}
	}
	return nil
}

// streamed reports whether the table whose rows would be streamed past a small side, probably the largest of its own, is one that the small
// side reads, too. A joiner cannot have it whole and stream it.
func (s *statement) streamed(n, small plan.Node) bool {
	tables := s.Tables(n)
	if len(tables) == 0 {
		return false
	}
	return slices.Contains(s.Tables(small), slices.MaxFunc(tables, func(a, b *plan.Table) int { return cmp.Compare(s.Kept(a), s.Kept(b)) }))
}

// swapped returns a join with its sides exchanged.
func swapped(n *plan.Join) *plan.Join {
	kind := n.Kind
	if kind == syntax.Right {
		kind = syntax.Left
	}
	out := plan.NewJoin(kind, n.R, n.L)
	out.Rest = n.Rest
	for _, p := range n.Equal {
		out.Equal = append(out.Equal, [2]plan.Expr{p[1], p[0]})
	}
	return out
}

// collect adds the tables of a plan.
func (s *statement) collect(n plan.Node, to map[*plan.Table]bool) {
	for _, t := range s.Tables(n) {
		to[t] = true
	}
}

// fits reports whether the tables of a plan can be reference streams in addition to the present ones.
func (s *statement) fits(n plan.Node, l *exec.Leaf) bool {
	all := map[*plan.Table]bool{}
	s.collect(n, all)
	for t := range all {
		if s.large[t] || s.Read(t) <= 0 {
			return false
		}
	}
	for _, have := range []map[*plan.Table]bool{s.Refs, l.Refs} {
		for t := range have {
			all[t] = true
		}
	}
	sum := int64(0)
	for t := range all {
		sum += s.Kept(t)
	}
	return sum <= mostSmall(s.of.Small)
}

// mostSmall returns how many bytes of small tables every joiner gets at most.
func mostSmall(small int64) int64 {
	if small == 0 {
		return MaxReference
	}
	return max(small, 0)
}

// place returns the place of a table among those of the session.
func (s *statement) place(t *plan.Table) int {
	i := 0
	for &s.of.tables[i] != t {
		i++
	}
	return i
}

// about returns what the session knows of a table.
func (s *statement) about(t *plan.Table) *catalog.Table { return &s.of.Tables[s.place(t)] }

// conflicts finds tables that would be both reference streams and streams of facts. It marks each of them as large.
func (s *statement) conflicts() (found bool) {
	for _, l := range s.Leaves {
		if len(l.Refs) > 0 && s.Refs[l.Scan.Of] {
			s.large[l.Scan.Of], found = true, true
		}
	}
	return found
}

// computed reports whether a joiner can compute an expression of a leaf: the expression has kernels, and its queries read only
// small tables.
func (s *statement) computed(e plan.Expr, l *exec.Leaf) bool {
	if s.plain[e] {
		return true
	}
	fits := true
	var queries, waits []*plan.Subquery
	plain := plan.Rewrite(func(e plan.Expr) (plan.Expr, bool) {
		q, ok := e.(*plan.Subquery)
		if !ok {
			return nil, false
		}
		queries = append(queries, q)
		if q.X != nil {
			fits = fits && s.computed(q.X, l)
		}
		if fits = fits && q.T.Kind != types.TextList; fits && !s.fits(q.Plan, l) {
			if fits = s.trial; fits {
				waits = append(waits, q)
			}
		}
		return plan.Value(q.T, q.At, nil), true
	})(e)
	if !fits || !exec.Computed(plain) {
		return false
	}
	for _, q := range queries {
		if !slices.Contains(waits, q) {
			s.collect(q.Plan, l.Refs)
		}
	}
	l.Waits = append(l.Waits, waits...)
	if len(queries) == 0 {
		s.plain[e] = true
	}
	return true
}

// explainReferences reports which tables every joiner has, and why.
func (s *statement) explainReferences(b *strings.Builder) {
	for _, sc := range s.Order {
		if s.Refs[sc.Of] {
			what := sc.Table.Name + " whole: it is small"
			if len(sc.Within) > 0 {
				what = "those rows of " + sc.Table.Name + " that are not skipped: they are small"
			}
			fmt.Fprintf(b, "  every joiner has %s, %s in the columns that are read\n", what, exec.About(s.Kept(sc.Of)))
		}
	}
}

// namesBelow returns the names of the tables of a plan.
func namesBelow(n plan.Node) (names []string) {
	plan.Nodes(n, func(n plan.Node) {
		if scan, ok := n.(*plan.Scan); ok && !slices.Contains(names, scan.Table.Name) {
			names = append(names, scan.Table.Name)
		}
	})
	if names == nil {
		return []string{"rows of the statement"}
	}
	return names
}
