package compile

import (
	"slices"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/rows/fold"
)

// leaf is a node that is computed, at least in part, where the rows of its table are.
type leaf struct {
	node     plan.Node // the node whose rows the tail asks for
	scan     *scan
	from     plan.Node            // gives the rows: the Scan, or the base of the region
	steps    []plan.Node          // Filters, Projects and broadcasts from the scan up to what is kept, the lowest first
	refs     map[*plan.Table]bool // tables that its steps read
	waits    []*plan.Subquery     // queries over large tables that its steps ask; only in a trial
	missing  analyses.Missing     // which statements read it, among those that share the scan
	keep     keeping
	table    int // index in the analysis of the first table that it folds into
	tables   int // how many tables it folds into
	groups   *groups
	best     *best
	region   *region                // the region whose rows it folds; nil if it folds those of a scan
	parts    []plan.Expr            // keys of the partitions, if it is a source of a region
	read     map[plan.Node]plan.Set // by projection, which columns later steps read; nil if that is not known
	dropNull bool                   // rows with NULL in one of parts are not needed
	leading  []leading              // the conditions with which it begins
	led      int                    // how many of its steps these conditions replace
	fields   []plan.Field           // of the rows that travel
	needed   []bool                 // which of them the tail reads
	unkept   bool                   // the reducer keeps none of the rows: see passOn
}

// keeping is what a leaf does with its rows.
type keeping uint8

const (
	keepGroups keeping = iota
	keepBest
	keepDistinct
	keepRows
	keepParts // rows wait in the aggregators: see region
)

// best describes the rows that an ORDER BY with a LIMIT, or a LIMIT alone, can need.
type best struct {
	orders []plan.Order // empty: the first rows
	n      int
}

// firstRows reports whether the leaf keeps rows for a LIMIT without an order. The position of each row then ends with rowKept
// or rowFailed.
func (l *leaf) firstRows() bool { return l.keep == keepBest && len(l.best.orders) == 0 }

const (
	rowKept   = 0
	rowFailed = 1 // an error is kept in place of the row
)

// root is a statement of a session, or the query of it that a pass answers.
type root struct {
	name   string
	plan   plan.Node
	pass   bool          // plan is the query that a pass answers
	tables map[*leaf]int // by leaf that its query reads, the index of the leaf's first table
}

// statement is what a session answers, split into leaves and tails: one statement, or several over one scan.
type statement struct {
	plan    *Plan
	script  *syntax.Script
	roots   []root
	tables  []plan.Table
	scans   map[*plan.Table]*scan
	order   []*scan
	leaves  []*leaf
	regions []*region
	visits  int // how many nodes were visited in search of regions
	byNode  map[plan.Node]*leaf
	seen    map[plan.Node]bool
	specs   []fold.Spec
	live    liveness
	unread  plan.Set // columns of tables that nothing reads
	ids     *plan.IDs
	*sizes.Sizes
	refs    map[*plan.Table]bool            // tables that every joiner has
	large   map[*plan.Table]bool            // tables that must not be in refs
	missing map[*plan.Scan]analyses.Missing // by scan of a small table, which of the statements that share the scan read it
	// What was found out about the plan, which is asked again for each region that is tried.
	plain map[plan.Expr]bool // expressions without queries for which there are kernels

	trial bool // treat queries over large tables as answered, and note them in the leaves that ask them
}

// take finds the leaves below a node.
func (s *statement) take(n plan.Node) error {
	if s.seen[n] {
		return nil
	}
	s.seen[n] = true
	if l := s.leafOf(n); l != nil {
		l.node = n
		s.leaves = append(s.leaves, l)
		s.byNode[n] = l
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
				return s.keepBest(x, l, &best{nil, most})
			}
			if below = x.Input; s.Uses()[below] > 1 || slices.ContainsFunc(x.Exprs, containsSubquery) {
				return s.take(in)
			}
		case *plan.Sort:
			l := s.chain(x.Input)
			if s.Uses()[x.Input] > 1 || !plainOrders(x.Keys) {
				return s.take(in)
			}
			if l == nil && s.byNode[x.Input] == nil && s.bestOf(x.Input, &best{x.Keys, most}) != nil {
				s.seen[x.Input] = true
				return nil
			}
			if l == nil {
				return s.take(in)
			}
			return s.keepBest(x.Input, l, &best{x.Keys, most})
		default:
			if l := s.chain(x); l != nil {
				return s.keepBest(x, l, &best{nil, most})
			}
			return s.take(in)
		}
	}
}

func (s *statement) keepBest(n plan.Node, l *leaf, b *best) error {
	s.seen[n] = true
	l.node, l.keep, l.best = n, keepBest, b
	s.leaves = append(s.leaves, l)
	s.byNode[n] = l
	s.read(l)
	return nil
}

func plainOrders(orders []plan.Order) bool {
	for _, o := range orders {
		if !ordered(o.X.Type().Kind) || containsSubquery(o.X) || !computed(o.X) {
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
func (s *statement) leafOf(n plan.Node) *leaf {
	if a, ok := n.(*plan.Aggregation); ok {
		l := s.chain(a.Input)
		if l == nil {
			return nil
		}
		if l.groups = newGroups(a); l.groups == nil {
			return nil
		}
		l.keep = keepGroups
		return l
	}
	if d, ok := n.(*plan.Distinct); ok && len(d.On) == 0 && orderedFields(d.Input) {
		l := s.chain(d.Input)
		if l != nil {
			l.keep = keepDistinct
		}
		return l
	}
	l := s.chain(n)
	if l != nil {
		l.keep = keepRows
	}
	return l
}

func orderedFields(n plan.Node) bool {
	return !slices.ContainsFunc(n.Fields(), func(f plan.Field) bool { return !ordered(f.Type.Kind) })
}

// chain returns a leaf for a node that reads one large table with nothing but filters, projections, UNNEST and joins with small
// tables in between; nil for any other node.
func (s *statement) chain(n plan.Node) *leaf {
	l := &leaf{fields: n.Fields(), needed: s.travelling(n), refs: map[*plan.Table]bool{}}
	for below := n; ; {
		switch x := below.(type) {
		case *plan.Scan:
			slices.Reverse(l.steps)
			l.scan, l.from = s.scanOf(x), x
			return l
		case *plan.Join:
			b := s.broadcast(x, l)
			if b == nil {
				return nil
			}
			below = b.L
			l.steps = append(l.steps, b)
		case *plan.Unnest:
			for _, e := range x.Lists {
				if !s.computed(e, l) {
					return nil
				}
			}
			below = x.Input
			l.steps = append(l.steps, &unnest{Unnest: x})
		case *plan.Filter:
			below = x.Input
			l.steps = append(l.steps, x)
			if !s.computed(x.Cond, l) {
				return nil
			}
		case *plan.Project:
			below = x.Input
			l.steps = append(l.steps, x)
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

// computed reports whether a joiner can compute an expression: the expression has kernels and contains no query.
func computed(e plan.Expr) bool {
	if containsSubquery(e) {
		return false
	}
	return eval.Supports(e) == nil
}

func containsSubquery(e plan.Expr) bool { return len(plan.QueriesIn(e)) > 0 }

// scanOf returns the stream that a scan reads.
func (s *statement) scanOf(n *plan.Scan) *scan {
	sc := s.scans[n.Table]
	if sc == nil {
		sc = &scan{of: n.Table, table: s.about(n.Table)}
		s.scans[n.Table] = sc
	}
	return sc
}

// read notes that a leaf reads its table.
func (s *statement) read(l *leaf) {
	if !slices.Contains(s.order, l.scan) {
		s.order = append(s.order, l.scan)
	}
	for t := range l.refs {
		s.refs[t] = true
	}
	l.prune()
	if l.groups != nil {
		for i := range l.groups.aggs {
			x := &l.groups.aggs[i]
			x.before, x.after = l.numbers()
		}
	}
}
