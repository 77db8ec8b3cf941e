package exec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/progress"
)

// ErrReference is wrapped by the error of a joiner that cannot keep the tables for its lookups. The statement may succeed
// without reference streams (Table.Bytes of 0).
var ErrReference = analyses.LargeReference(errors.New("the tables that every joiner has whole are too large"))

// Overfull reports whether a session failed because a joiner could not keep its reference streams.
func Overfull(reason error) bool { return analyses.IsLargeReference(reason) }

// references are the reference streams of a session, as joiners get them.
type references struct {
	s      *Fragments
	pieces [][]piece // by stream
	tail   *operators.Executor
	Most   int64 // how many bytes may be kept
}

type piece struct {
	batch *batch.Batch
	pos   analyses.Position
}

func newReferences(s *Fragments) *references {
	return &references{s: s, pieces: make([][]piece, len(s.Order)), Most: maxKept}
}

func (r *references) add(stream int, b *batch.Batch, pos analyses.Position) error {
	if !r.s.Refs[r.s.Order[stream].Of] {
		return fmt.Errorf("stream %d: %w", stream, analyses.ErrNoReference)
	}
	r.pieces[stream] = append(r.pieces[stream], piece{b, pos})
	return nil
}

// executor returns an executor over the complete reference streams. All leaves share it, so a shared plan is computed once.
func (r *references) executor() *operators.Executor {
	if r.tail == nil {
		for _, list := range r.pieces {
			slices.SortFunc(list, func(a, b piece) int {
				return compare(a.pos, b.pos)
			})
		}
		r.tail = operators.New(r, r.Most, r.plans()...)
	}
	return r.tail
}

func compare(a, b analyses.Position) int {
	switch {
	case a.File.Name != b.File.Name:
		return strings.Compare(a.File.Name, b.File.Name)
	case a.Line < b.Line:
		return -1
	case a.Line > b.Line:
		return 1
	}
	return 0
}

// plans returns the plans to compute: the right sides of the leaves' joins, and the queries in the leaves' expressions.
func (r *references) plans() (plans []plan.Node) {
	for _, l := range r.s.Leaves {
		plans = append(plans, l.plans()...)
	}
	return plans
}

func (l *Leaf) plans() (plans []plan.Node) {
	for _, n := range l.Steps {
		exprs := plan.Exprs(n)
		switch n := n.(type) {
		case *Broadcast:
			plans, exprs = append(plans, n.R), plan.Exprs(n.Join)
		case *Unnest:
			exprs = n.Lists
		}
		plans = append(plans, Queries(exprs)...)
	}
	return plans
}

// Queries returns the plans of the queries in expressions.
func Queries(exprs []plan.Expr) (plans []plan.Node) {
	seen := map[plan.Expr]bool{}
	var find func(list []plan.Expr)
	find = func(list []plan.Expr) {
		for _, e := range list {
			if e == nil || seen[e] {
				continue
			}
			seen[e] = true
			if q, ok := e.(*plan.Subquery); ok {
				plans = append(plans, q.Plan)
			}
			find(plan.Children(e))
		}
	}
	find(exprs)
	return plans
}

// Has implements operators.Source.
func (r *references) Has(n plan.Node) bool {
	_, ok := n.(*plan.Scan)
	return ok
}

// Read implements operators.Source.
func (r *references) Read(n plan.Node, yield func(*operators.Batch) error) error {
	of := n.(*plan.Scan)
	sc := r.s.Scans[of.Table]
	columns := newColumns(sc)
	for _, p := range r.pieces[sc.Stream] {
		progress.Mark()
		columns.load(decoded{p.batch}, p.pos.File)
		rows := &operators.Batch{Columns: columns.vector, N: p.batch.Rows()}
		if columns.missing != nil {
			by := r.s.Missing[of]
			if by == 0 {
				return fmt.Errorf("it is not known which statement reads %s here", sc.Table.Name)
			}
			sel := columns.taken(by, everyRow(nil, rows.N), 0)
			rows = &operators.Batch{Columns: make([]*eval.Vector, len(columns.vector)), N: len(sel)}
			for i, v := range columns.vector {
				rows.Columns[i] = values.Gather(v, sel)
			}
		}
		if err := yield(rows); err != nil {
			return err
		}
	}
	return nil
}

// explain adds to an error that the reference streams did not suffice for a computation.
func (r *references) explain(err error) error {
	if !errors.Is(err, operators.ErrMemory) {
		return r.s.located(err)
	}
	var names []string
	for _, sc := range r.s.Order {
		if r.s.Refs[sc.Of] {
			names = append(names, fmt.Sprintf("%s, %s", sc.Table.Name, About(r.s.Size(sc.Of))))
		}
	}
	return fmt.Errorf("%w: a joiner may keep %d bytes of them (%s)", ErrReference, r.Most, strings.Join(names, "; "))
}

// joined locates the rows that a step has made from others.
type joined struct {
	rows          []int32   // numbers of the original rows in the slice; nil if they are the same rows
	before, after [][]int32 // numbers of partners, which stand before and after the place of a row
}

// picked returns the origins of new rows, each made from one of the rows in was; rows has the index of that row. The slices of
// now use the memory in room.
func (was *joined) picked(rows []int32, room *[][]int32) (now joined) {
	used := 0
	pick := func(from []int32) []int32 {
		if used == len(*room) {
			*room = append(*room, nil)
		}
		to := (*room)[used][:0]
		for _, i := range rows {
			to = append(to, from[i])
		}
		(*room)[used] = to
		used++
		return to
	}
	if now.rows = rows; was.rows != nil {
		now.rows = pick(was.rows)
	}
	for _, numbers := range was.before {
		now.before = append(now.before, pick(numbers))
	}
	for _, numbers := range was.after {
		now.after = append(now.after, pick(numbers))
	}
	return now
}

// lookup joins rows with rows that the joiner keeps.
type lookup struct {
	*Broadcast
	kept *operators.Lookup
	out  []*eval.Vector
	room [][]int32 // memory for probe
}

func newLookup(b *Broadcast, x *operators.Executor, m *eval.Meter) (*lookup, error) {
	kept, err := x.NewLookup(b.Join, b.wanted, m)
	return &lookup{Broadcast: b, kept: kept}, err
}

// fork returns a lookup of the same rows for another goroutine.
func (l *lookup) fork(m *eval.Meter) (*lookup, error) {
	kept, err := l.kept.Fork(m)
	return &lookup{Broadcast: l.Broadcast, kept: kept}, err
}

// probe joins the selected rows, and calls to with the joined rows, which have the columns of the join in the plan. During
// these calls, at locates the joined rows.
func (l *lookup) probe(b *operators.Batch, at *joined, to func(b *operators.Batch) error) error {
	was := *at
	defer func() { *at = was }()
	return l.kept.Probe(b, func(out *operators.Batch, left, right []int32) error {
		*at = was.picked(left, &l.room)
		switch {
		case l.numbered() && l.Swapped:
			at.before = append([][]int32{l.places(right)}, at.before...)
		case l.numbered():
			at.after = append(at.after, l.places(right))
		}
		l.out = l.out[:0]
		if l.Swapped {
			w := len(l.L.Fields())
			l.out = append(append(l.out, out.Columns[w:]...), out.Columns[:w]...)
		} else {
			l.out = append(l.out, out.Columns...)
		}
		return to(&operators.Batch{Columns: l.out, N: out.N})
	})
}

// places returns the numbers of partners. Rows without a partner come last, as in a RIGHT JOIN.
func (l *lookup) places(right []int32) []int32 {
	for i, r := range right {
		if r < 0 {
			right[i] = int32(l.kept.Len())
		}
	}
	return right
}
