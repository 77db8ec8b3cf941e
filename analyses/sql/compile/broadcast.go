package compile

import (
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// A join of a table with small ones is computed where the rows of the table are (a broadcast join). The small tables are
// reference streams, which every joiner has whole (R11). So only the joined rows travel, or the groups that they are folded
// into. The small side need not be a table: with package tail, a joiner computes any plan over small tables, and any query that
// is used as a value.
const (
	// MaxReference bounds the bytes of all values that are read from small tables together, as estimated from the sizes of files
	// and from samples.
	MaxReference = 64 << 20
	// maxKept is how many bytes a joiner may keep for what it computes from the small tables. More ends the session with
	// ErrReference.
	maxKept = 256 << 20
)

// broadcast is a step of a leaf: a join with a plan over small tables.
type broadcast struct {
	*plan.Join           // streamed rows are those of L
	of         plan.Node // the join as it stands in the plan
	swapped    bool      // L is the right side of the join in the plan
	wanted     []bool    // columns of the Join that later steps read
}

// Fields are those of the join as it stands in the plan.
func (b *broadcast) Fields() []plan.Field { return b.of.Fields() }

// numbered reports whether the join may repeat a row. The place of a joined row then includes the number of its partner, so
// that it is unique.
func (b *broadcast) numbered() bool { return b.Kind != syntax.Semi && b.Kind != syntax.Anti }

// broadcast returns the step that computes a join where the rows of one of its sides are, nil if the other side is not small.
func (s *statement) broadcast(n *plan.Join, l *leaf) *broadcast {
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
	left, right = left && s.fits(n.R, l), right && s.fits(n.L, l)
	if left && right && s.Below(n.L) != s.Below(n.R) {
		left = s.Below(n.L) > s.Below(n.R)
	}
	switch {
	case left:
		s.collect(n.R, l.refs)
		return &broadcast{Join: n, of: n}
	case right:
		s.collect(n.L, l.refs)
		return &broadcast{Join: swapped(n), of: n, swapped: true}
	}
	return nil
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
func (s *statement) fits(n plan.Node, l *leaf) bool {
	all := map[*plan.Table]bool{}
	s.collect(n, all)
	for t := range all {
		if s.large[t] || s.Read(t) <= 0 {
			return false
		}
	}
	for _, have := range []map[*plan.Table]bool{s.refs, l.refs} {
		for t := range have {
			all[t] = true
		}
	}
	sum := int64(0)
	for t := range all {
		sum += s.Kept(t)
	}
	return sum <= MaxReference
}

// about returns what the plan knows of a table.
func (s *statement) about(t *plan.Table) *Table {
	for i := range s.tables {
		if &s.tables[i] == t {
			return &s.plan.Tables[i]
		}
	}
	return nil
}

// conflicts finds tables that would be both reference streams and streams of facts. It marks each of them as large.
func (s *statement) conflicts() (found bool) {
	for _, l := range s.leaves {
		if len(l.refs) > 0 && s.refs[l.scan.of] {
			s.large[l.scan.of], found = true, true
		}
	}
	return found
}

// computed reports whether a joiner can compute an expression of a leaf: the expression has kernels, and its queries read only
// small tables.
func (s *statement) computed(e plan.Expr, l *leaf) bool {
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
	if !fits || !computed(plain) {
		return false
	}
	for _, q := range queries {
		if !slices.Contains(waits, q) {
			s.collect(q.Plan, l.refs)
		}
	}
	l.waits = append(l.waits, waits...)
	if len(queries) == 0 {
		s.plain[e] = true
	}
	return true
}

// prune determines, for each join and each projection of a leaf, which columns later steps read.
func (l *leaf) prune() {
	var live plan.Set
	switch {
	case l.groups != nil:
		live.Mark(plan.Exprs(l.groups.node)...)
	default:
		for i, f := range l.fields {
			if l.needed[i] {
				live.Add(f.ID)
			}
		}
		if l.best != nil {
			for _, o := range l.best.orders {
				live.Mark(o.X)
			}
		}
		if l.keep == keepParts {
			live.Mark(l.parts...)
		}
	}
	for _, n := range slices.Backward(l.steps) {
		switch n := n.(type) {
		case *plan.Filter:
			live.Mark(n.Cond)
		case *plan.Project:
			if l.read == nil {
				l.read = map[plan.Node]plan.Set{}
			}
			l.read[n], live = live, nil
			live.Mark(n.Exprs...)
		case *unnest:
			n.wanted = among(live, n.Input.Fields())
			live.Mark(n.Lists...)
		case *broadcast:
			n.wanted = among(live, n.Join.Fields())
			live.Mark(plan.Exprs(n.Join)...)
		}
	}
}

// among returns which of some columns are in a set.
func among(set plan.Set, fields []plan.Field) []bool {
	list := make([]bool, len(fields))
	for i, f := range fields {
		list[i] = set.Has(f.ID)
	}
	return list
}

// numbers returns how many numbers stand before and after the place of a row of the leaf: those of the rows that it was joined
// with, and of the items that UNNEST made.
func (l *leaf) numbers() (before, after int) {
	for _, n := range l.steps {
		if _, ok := n.(*unnest); ok {
			after++
		} else if b, ok := n.(*broadcast); ok && b.numbered() {
			if b.swapped {
				before++
			} else {
				after++
			}
		}
	}
	return before, after
}

// explainReferences reports which tables every joiner has, and why.
func (s *statement) explainReferences(b *strings.Builder) {
	for _, sc := range s.order {
		if s.refs[sc.of] {
			what := sc.table.Name + " whole: it is small"
			if len(sc.within) > 0 {
				what = "those rows of " + sc.table.Name + " that are not skipped: they are small"
			}
			fmt.Fprintf(b, "  every joiner has %s, %s in the columns that are read\n", what, about(s.Kept(sc.of)))
		}
	}
}

func about(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("about %d MiB", (bytes+1<<19)>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("about %d KiB", (bytes+1<<9)>>10)
	}
	return fmt.Sprintf("about %d B", bytes)
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
