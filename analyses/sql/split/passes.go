package split

import (
	"encoding/hex"
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// A pass is a session of its own (Q7). WHERE x > (SELECT avg(x) FROM t) over a large table t needs two passes: the first
// answers the query, and the plan of the second contains the answer, so that joiners can filter by it. In a single pass, all
// rows of t would have to travel, because only the reducer would have the answer.

// passAbove is the threshold for a pass: a query gets one if more than this many estimated bytes are read of the table whose
// rows wait for the query's answer. The rows of a smaller table reach the reducer sooner than another session opens.
const passAbove = MaxReference

// maxPasses bounds the nesting of queries that are passes. The reducer answers queries that are nested deeper.
const maxPasses = 16

// NextPass returns the plan of the pass that must run next, nil if the plan itself can run. A pass answers a query that is used
// as a value and reads tables that joiners do not have, if joiners can filter rows by its answer.
func (p *Plan) NextPass() *Plan {
	for plan, n := p, 0; ; n++ {
		if n == maxPasses {
			return nil
		}
		pass := p.waitsFor()
		if pass == nil && p == plan {
			return nil
		}
		if pass == nil {
			return p
		}
		p = pass
	}
}

// waitsFor returns a pass that has to run before this one, nil if there is none.
func (p *Plan) waitsFor() *Plan {
	if len(p.Also) > 0 {
		return nil
	}
	session, err := p.Session()
	if err != nil {
		return nil // compiling the plan reports this error
	}
	s, err := session.split(true)
	if err != nil {
		return nil
	}
	for _, l := range s.Leaves {
		if s.Read(l.Scan.Of) <= passAbove {
			continue
		}
		for _, q := range l.Waits {
			number := numberOf(q)
			if number == 0 || (l.Keep == exec.KeepRows || l.Keep == exec.KeepParts) && !filtersBy(l, q) {
				continue // these rows travel anyway, and meet the answer in the reducer
			}
			pass := p.of(Part{Statement: p.Statement, Pass: number, Answers: p.Answers})
			if _, err := Analysis(pass); err == nil {
				return pass
			}
		}
	}
	return p.late()
}

// filtersBy reports whether a filter of the leaf asks a query.
func filtersBy(l *exec.Leaf, q *plan.Subquery) bool {
	return slices.ContainsFunc(l.Steps, func(n plan.Node) bool {
		if _, projects := n.(*plan.Project); projects {
			return false
		}
		exprs := plan.Exprs(n)
		if b, joins := n.(*exec.Broadcast); joins {
			exprs = plan.Exprs(b.Join)
		}
		return slices.ContainsFunc(plan.QueriesIn(exprs...), func(in *plan.Subquery) bool { return in.Number == q.Number })
	})
}

// Answered returns the plan with the answer of a pass. Each item of rows is the text in one cell of this answer.
func (p *Plan) Answered(pass *Plan, rows []string) (_ *Plan, err error) {
	next := p.of(Part{Statement: p.Statement, Pass: p.Pass, Answers: slices.Clone(p.Answers)})
	values := make([]string, 0, len(rows))
	for _, row := range rows {
		b, err := hex.DecodeString(row)
		if err != nil {
			return nil, fmt.Errorf("the answer of pass %d: %w", pass.Pass, err)
		}
		values = append(values, string(b))
	}
	if pass.Pass == Late {
		next.Rows, err = placesIn(values)
		return next, err
	}
	for len(next.Answers) < pass.Pass {
		next.Answers = append(next.Answers, nil)
	}
	next.Answers[pass.Pass-1] = values
	return next, nil
}

// numberOf returns the number of a query in the plan, 0 if its answer cannot be written into a plan.
func numberOf(q *plan.Subquery) int {
	if !q.Exists && !values.Ordered(q.Plan.Fields()[0].Type.Kind) {
		return 0
	}
	return q.Number
}

// passed returns a statement with the answers of earlier passes in place of the queries. If the part is a pass, the query that it answers
// replaces the statement.
func (p *Plan) passed(r exec.Root, ids *plan.IDs) (exec.Root, error) {
	asks, err := map[int]*plan.Subquery{}, error(nil)
	inlined := plan.Rebuild(func(n plan.Node) plan.Node {
		return plan.WithExprs(n, plan.Rewrite(func(e plan.Expr) (plan.Expr, bool) {
			q, is := e.(*plan.Subquery)
			if !is {
				return nil, false
			}
			asks[q.Number] = q
			if q.Number > len(p.Answers) || p.Answers[q.Number-1] == nil || err != nil {
				return nil, false
			}
			to := *q
			to.Plan, err = inline(q, p.Answers[q.Number-1], ids)
			return &to, true
		}))
	})
	r.Plan = inlined(r.Plan)
	if err != nil {
		return r, err
	}
	if p.Pass > 0 && asks[p.Pass] == nil || len(p.Answers) > 0 && asks[len(p.Answers)] == nil {
		return r, fmt.Errorf("%w: it is about query %d and has %d answers, and statement %s asks %d queries", ErrPlan, p.Pass, len(p.Answers),
			r.Name, len(asks))
	}
	if p.Pass > 0 {
		r.Plan, r.Pass = passPlan(asks[p.Pass], ids), true
	}
	return r, nil
}

// passPlan returns a plan that computes what must be known about a query: whether it has rows, its distinct rows, or its
// first row and whether there is a second one.
func passPlan(q *plan.Subquery, ids *plan.IDs) plan.Node {
	switch {
	case q.Exists:
		one := plan.Value(types.Of(types.BigInt), q.At, int64(1))
		return &plan.Limit{Input: &plan.Project{Input: q.Plan, Exprs: []plan.Expr{one}, Out: []plan.Field{existsField(ids)}}, Count: 1}
	case q.In:
		return &plan.Distinct{Input: q.Plan}
	}
	return &plan.Limit{Input: q.Plan, Count: 2}
}

func existsField(ids *plan.IDs) plan.Field { return ids.Field("one", types.Of(types.BigInt)) }

// inline returns the rows of a query's answer as a node.
func inline(q *plan.Subquery, rows []string, ids *plan.IDs) (plan.Node, error) {
	field := q.Plan.Fields()[0]
	if q.Exists {
		field = existsField(ids)
	}
	t := field.Type
	if !values.Ordered(t.Kind) {
		return nil, fmt.Errorf("%w: answer %d: a query of type %s", ErrPlan, q.Number, t)
	}
	v := &eval.Vector{Kind: t.Kind}
	n := &plan.Inline{Out: []plan.Field{field}}
	for i, row := range rows {
		rest, err := values.Cut(v, i, []byte(row))
		if err != nil || len(rest) > 0 {
			return nil, fmt.Errorf("%w: answer %d: row %d is not a value of type %s", ErrPlan, q.Number, i+1, t)
		}
		n.Rows = append(n.Rows, []plan.Expr{plan.Value(t, q.At, v.Value(i))})
	}
	return n, nil
}

// Head returns a stream that need not be read to its end, and how many rows of the answer suffice: those of a LIMIT without an order, over
// one table. The first rows of the stream give the first rows of the answer.
func (p *Plan) Head() (stream string, rows int, ok bool) {
	s, err := p.statement()
	if err != nil {
		return "", 0, false
	}
	l, rows := s.head()
	if l == nil {
		return "", 0, false
	}
	return s.StreamName(l.Scan.Stream), rows, true
}

func (s *statement) head() (*exec.Leaf, int) {
	if len(s.roots) > 1 || s.roots[0].Pass || len(s.Leaves) != 1 || s.Leaves[0].Keep != exec.KeepBest || len(s.Leaves[0].Best.Orders) > 0 {
		return nil, 0
	}
	l, rows := s.Leaves[0], -1
	for n := s.roots[0].Plan; n != l.Node; {
		switch x := n.(type) {
		case *plan.Project:
			n = x.Input
		case *plan.Limit:
			if rows >= 0 {
				return nil, 0
			}
			n, rows = x.Input, int(x.Count)
		default:
			return nil, 0
		}
	}
	if before, _ := l.Numbers(); before > 0 || rows <= 0 || s.Refs[l.Scan.Of] {
		return nil, 0 // the order of the rows is first that of a small table
	}
	return l, rows
}
