package operators

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// Compute computes an expression for the rows of a batch. The vector is valid until the next call.
func Compute(p *eval.Program, b *Batch) (*eval.Vector, error) {
	sel := b.Sel
	if sel == nil { // package eval takes nil for all rows
		sel = []int32{}
	}
	return p.Run(b.Columns, b.N, sel)
}

// Passing appends the rows of a batch for which a condition is true.
func Passing(rows []int32, cond *eval.Vector, sel []int32) []int32 {
	if !cond.Any { // without a branch that depends on the rows
		n := len(rows)
		rows = slices.Grow(rows, len(sel))[:n+len(sel)]
		for _, i := range sel { // rows may be the beginning of sel, which is read before it is written
			rows[n] = i
			if cond.Bools[i] {
				n++
			}
		}
		return rows[:n]
	}
	for _, i := range sel {
		if cond.Bools[i] && !cond.IsNull(i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// Pieces calls to for a batch, or for pieces of it if the values that to computes do not fit the memory together.
func (b *Batch) Pieces(to func(b *Batch) error) error {
	return eval.Pieces(b.Sel, func(sel []int32) error {
		piece := *b
		piece.Sel = slices.Clip(sel)
		return to(&piece)
	})
}

// compile makes a program of an expression over rows with a layout. It computes the queries within it at once.
func (x *Executor) compile(e plan.Expr, at plan.Layout) (*eval.Program, error) {
	return x.Program(e, at, x.meter)
}

// Program is compile for a program that counts what it makes in m.
func (x *Executor) Program(e plan.Expr, at plan.Layout, m *eval.Meter) (*eval.Program, error) {
	var failed error
	e = plan.Rewrite(func(e plan.Expr) (plan.Expr, bool) {
		s, ok := e.(*plan.Subquery)
		if !ok || failed != nil {
			return nil, false
		}
		value, err := x.subquery(s)
		if err != nil {
			failed = err
			return e, true
		}
		return value, true
	})(e)
	if failed != nil {
		return nil, failed
	}
	return eval.CompileFor(e, at, m)
}

func (x *Executor) compileAll(list []plan.Expr, at plan.Layout) ([]*eval.Program, error) {
	return x.compileAllFor(list, at, x.meter)
}

func (x *Executor) compileAllFor(list []plan.Expr, at plan.Layout, m *eval.Meter) ([]*eval.Program, error) {
	out := make([]*eval.Program, len(list))
	for i, e := range list {
		var err error
		if out[i], err = x.Program(e, at, m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// evalAll computes several expressions. After an error, it narrows the batch to the rows before the first failing one, and
// continues. So it returns the error of the first row that fails. If the values of all rows do not fit the memory, it returns no values,
// and an error by which stream takes fewer rows at a time.
func evalAll(list []*eval.Program, b *Batch) (out []*eval.Vector, failed error) {
	out = make([]*eval.Vector, len(list))
	for i, p := range list {
		v, err := Compute(p, b)
		if err != nil {
			if !b.UpTo(err) {
				return nil, err
			}
			failed = b.located(err)
			if v, err = Compute(p, b); err != nil {
				return nil, err
			}
		}
		out[i] = v
	}
	return out, failed
}

// UpTo narrows the batch to the rows before an error. It returns false if the error does not belong to a row.
func (b *Batch) UpTo(err error) bool {
	e := (*eval.Error)(nil)
	if !errors.As(err, &e) {
		return false
	}
	before, _ := slices.BinarySearch(b.Sel, e.Row)
	b.Sel = b.Sel[:before]
	return true
}

// located turns an error of package eval into an Error.
func (b *Batch) located(err error) error {
	e := (*eval.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	out := &values.Error{At: e.At, Message: e.Message}
	if b.File != nil && b.Line != nil {
		out.File, out.Line = b.File.Texts[e.Row], b.Line.Ints[e.Row]
	}
	return out
}

// subquery is the result of a query that is used as a value.
type subquery struct {
	rows *store
	set  *index // the rows by value, for IN
	null bool   // whether NULL is among the rows
}

// subquery computes a query that is used as a value, once, and returns an expression that replaces it.
func (x *Executor) subquery(s *plan.Subquery) (plan.Expr, error) {
	q := x.subqueries[s]
	if q == nil {
		q = &subquery{}
		if err := x.answer(q, s); err != nil {
			return nil, err
		}
		x.subqueries[s] = q
	}
	switch {
	case s.Exists:
		return plan.Value(s.T, s.At, q.rows.n > 0), nil
	case s.In:
		return x.member(q, s)
	}
	v, err := q.value(s)
	return plan.Value(s.T, s.At, v), err
}

func (x *Executor) answer(q *subquery, s *plan.Subquery) (err error) {
	if s.Exists {
		q.rows = x.newStore(nil)
		return x.first(s.Plan, 1, q.rows.add)
	}
	if !s.In {
		q.rows = x.newStore(s.Plan.Fields())
		return x.first(s.Plan, 2, q.rows.add)
	}
	q.set = x.newIndex()
	q.rows = x.newStore(nil)
	return x.stream(s.Plan, func(b *Batch) error {
		for _, i := range b.Sel {
			if b.Columns[0].IsNull(i) {
				q.null = true
				continue
			}
			q.set.row(b.Columns[:1], i)
			if _, _, err := q.set.id(); err != nil {
				return err
			}
		}
		return nil
	})
}

// member is X IN (query): false for no rows, else NULL if x is NULL, or if x is not found and a row is NULL.
func (x *Executor) member(q *subquery, s *plan.Subquery) (plan.Expr, error) {
	switch { // x itself need not be computed
	case len(q.set.ids) == 0 && q.null:
		return plan.Value(s.T, s.At, nil), nil
	case len(q.set.ids) == 0:
		return plan.Value(s.T, s.At, false), nil
	}
	of := s.X
	if nested := containsSubquery(of); nested {
		var failed error
		of = plan.Rewrite(func(e plan.Expr) (plan.Expr, bool) {
			inner, ok := e.(*plan.Subquery)
			if !ok || failed != nil {
				return nil, false
			}
			v, err := x.subquery(inner)
			if err != nil {
				failed = err
				return e, true
			}
			return v, true
		})(of)
		if failed != nil {
			return nil, failed
		}
	}
	probe := &index{counted: counted{x: x}, ids: q.set.ids}
	return &eval.Member{X: of, At: s.At, Test: func(v *eval.Vector, sel []int32, out *eval.Vector) {
		for _, i := range sel {
			if v.IsNull(i) {
				out.SetNull(i)
				continue
			}
			probe.key = values.Append(probe.key[:0], v, i, true)
			_, found := probe.ids[string(probe.key)]
			if out.Bools[i] = found; !found && q.null {
				out.SetNull(i)
			}
		}
	}}, nil
}

func containsSubquery(e plan.Expr) bool {
	if _, ok := e.(*plan.Subquery); ok {
		return true
	}
	for _, c := range plan.Children(e) {
		if containsSubquery(c) {
			return true
		}
	}
	return false
}

// value returns the only value of a query; NULL if it has no rows.
func (q *subquery) value(s *plan.Subquery) (any, error) {
	if q.rows.n > 1 {
		return nil, &values.Error{At: s.At, Message: "the query that is used as a value has more than one row; add LIMIT 1, or an aggregate"}
	}
	v := q.rows.columns[0]
	if q.rows.n == 0 || v.IsNull(0) {
		return nil, nil
	}
	if v.Kind == types.TextList {
		return nil, fmt.Errorf("a query that is used as a value gives a list: %w", eval.ErrUnsupported)
	}
	return v.Value(0), nil
}
