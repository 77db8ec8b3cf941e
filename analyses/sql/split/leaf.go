package split

import (
	"slices"

	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// statement is what a session answers while it is split: one statement, or several over one scan.
type statement struct {
	*exec.Fragments
	*sizes.Sizes
	of     *Session
	roots  []exec.Root
	ids    *plan.IDs
	visits int // how many nodes were visited in search of regions
	seen   map[plan.Node]bool
	live   liveness
	unread plan.Set             // columns of tables that nothing reads
	large  map[*plan.Table]bool // tables that must not be in refs
	plain  map[plan.Expr]bool   // expressions without queries for which there are kernels
	trial  bool                 // treat queries over large tables as answered, and note them in the leaves that ask them
}

// take finds the leaves below a node.
func (s *statement) take(n plan.Node) error {
	if s.seen[n] {
		return nil
	}
	s.seen[n] = true
	if l := s.leafOf(n); l != nil {
		l.Node = n
		s.Leaves = append(s.Leaves, l)
		s.ByNode[n] = l
		s.read(l)
		return nil
	}
	if s.regionOf(n) != nil {
		return nil
	}
	for _, e := range plan.Exprs(n) {
		if err := s.takeExpr(e, map[plan.Expr]bool{}); err != nil {
			return err
		}
	}
	for _, in := range plan.Inputs(n) {
		s.takeOnce(n, in)
		if err := s.takeBelow(n, in); err != nil {
			return err
		}
	}
	return nil
}

// takeBelow takes the input of a node. Below a small LIMIT, only the rows that this LIMIT can need are kept.
func (s *statement) takeBelow(n, in plan.Node) error {
	limit, ok := n.(*plan.Limit)
	if !ok || s.Uses()[in] > 1 || limit.Count < 0 || limit.Count+limit.Offset < 0 || limit.Count+limit.Offset > fold.MaxLeast ||
		limit.Count == 0 {
		return s.take(in)
	}
	most := int(limit.Count + limit.Offset)
	for below := in; ; {
		switch x := below.(type) {
		case *plan.Project: // a projection keeps its rows and their order
			if l := s.chain(x); l != nil {
				return s.keepBest(x, l, &exec.Best{Orders: nil, N: most})
			}
			if below = x.Input; s.Uses()[below] > 1 || slices.ContainsFunc(x.Exprs, exec.ContainsSubquery) {
				return s.take(in)
			}
		case *plan.Sort:
			l := s.chain(x.Input)
			if s.Uses()[x.Input] > 1 || !plainOrders(x.Keys) {
				return s.take(in)
			}
			if l == nil && s.ByNode[x.Input] == nil && s.bestOf(x.Input, &exec.Best{Orders: x.Keys, N: most}) != nil {
				s.seen[x.Input] = true
				return nil
			}
			if l == nil {
				return s.take(in)
			}
			return s.keepBest(x.Input, l, &exec.Best{Orders: x.Keys, N: most})
		default:
			if l := s.chain(x); l != nil {
				return s.keepBest(x, l, &exec.Best{Orders: nil, N: most})
			}
			return s.take(in)
		}
	}
}

// takeOnce takes the right side of a join that asks only whether a row has a partner, if it is this input. Of equal rows there one is
// enough: the tail gets groups without aggregates, and no rows with their places.
func (s *statement) takeOnce(n, in plan.Node) {
	j, is := n.(*plan.Join)
	if !is || in != j.R || j.Kind != syntax.Semi && j.Kind != syntax.Anti || j.Rest != nil || s.seen[j.R] || s.Uses()[j.R] > 1 {
		return
	}
	l := s.chain(j.R)
	if l == nil {
		return
	}
	g := &plan.Aggregation{Input: j.R, Sets: [][]int{nil}}
	for c, needed := range l.Needed {
		if needed {
			f := l.Fields[c]
			g.Sets[0] = append(g.Sets[0], len(g.Keys))
			g.Keys, g.Out, l.Once = append(g.Keys, f.Ref(0)), append(g.Out, f), append(l.Once, c)
		}
	}
	if l.Groups = exec.NewGroups(g); l.Groups == nil || len(g.Keys) == 0 {
		return
	}
	s.seen[j.R] = true
	l.Node, l.Keep, l.AnyOrder = j.R, exec.KeepGroups, true
	s.Leaves = append(s.Leaves, l)
	s.ByNode[j.R] = l
	s.read(l)
}

func (s *statement) keepBest(n plan.Node, l *exec.Leaf, b *exec.Best) error {
	s.seen[n] = true
	l.Node, l.Keep, l.Best = n, exec.KeepBest, b
	s.Leaves = append(s.Leaves, l)
	s.ByNode[n] = l
	s.read(l)
	return nil
}

func plainOrders(orders []plan.Order) bool {
	for _, o := range orders {
		if !values.Ordered(o.X.Type().Kind) || exec.ContainsSubquery(o.X) || !exec.Computed(o.X) {
			return false
		}
	}
	return true
}

// takeExpr finds the leaves of queries that are used as values.
func (s *statement) takeExpr(e plan.Expr, seen map[plan.Expr]bool) error {
	if e == nil || seen[e] {
		return nil
	}
	seen[e] = true
	if q, ok := e.(*plan.Subquery); ok {
		if err := s.take(q.Plan); err != nil {
			return err
		}
	}
	for _, c := range plan.Children(e) {
		if err := s.takeExpr(c, seen); err != nil {
			return err
		}
	}
	return nil
}

// leafOf returns the leaf for a node, nil if the node cannot be a leaf.
func (s *statement) leafOf(n plan.Node) *exec.Leaf {
	if a, ok := n.(*plan.Aggregation); ok {
		l := s.chain(a.Input)
		if l == nil {
			return nil
		}
		if l.Groups = exec.NewGroups(a); l.Groups == nil {
			return nil
		}
		l.Keep = exec.KeepGroups
		return l
	}
	if d, ok := n.(*plan.Distinct); ok && len(d.On) == 0 && orderedFields(d.Input) {
		l := s.chain(d.Input)
		if l != nil {
			l.Keep = exec.KeepDistinct
		}
		return l
	}
	l := s.chain(n)
	if l != nil {
		l.Keep = exec.KeepRows
	}
	return l
}

func orderedFields(n plan.Node) bool {
	return !slices.ContainsFunc(n.Fields(), func(f plan.Field) bool { return !values.Ordered(f.Type.Kind) })
}

// chain returns a leaf for a node that reads one large table with nothing but filters, projections, UNNEST and joins with small
// tables in between; nil for any other node.
func (s *statement) chain(n plan.Node) *exec.Leaf {
	l := &exec.Leaf{Fields: n.Fields(), Needed: s.travelling(n), Refs: map[*plan.Table]bool{}}
	for below := n; ; {
		switch x := below.(type) {
		case *plan.Scan:
			slices.Reverse(l.Steps)
			l.Scan, l.From = s.scanOf(x), x
			return l
		case *plan.Join:
			b := s.broadcast(x, l)
			if b == nil {
				return nil
			}
			below = b.L
			l.Steps = append(l.Steps, b)
		case *plan.Unnest:
			for _, e := range x.Lists {
				if !s.computed(e, l) {
					return nil
				}
			}
			below = x.Input
			l.Steps = append(l.Steps, &exec.Unnest{Unnest: x})
		case *plan.Filter:
			below = x.Input
			l.Steps = append(l.Steps, x)
			if !s.computed(x.Cond, l) {
				return nil
			}
		case *plan.Project:
			below = x.Input
			l.Steps = append(l.Steps, x)
			for _, e := range x.Exprs {
				if !s.computed(e, l) {
					return nil
				}
			}
		default:
			return nil
		}
	}
}

// scanOf returns the stream that a scan reads.
func (s *statement) scanOf(n *plan.Scan) *exec.Scan {
	sc := s.Scans[n.Table]
	if sc == nil {
		sc = &exec.Scan{Of: n.Table, Table: s.about(n.Table)}
		s.Scans[n.Table] = sc
	}
	return sc
}

// read notes that a leaf reads its table.
func (s *statement) read(l *exec.Leaf) {
	if !slices.Contains(s.Order, l.Scan) {
		s.Order = append(s.Order, l.Scan)
	}
	for t := range l.Refs {
		s.Refs[t] = true
	}
	l.Prune()
}
