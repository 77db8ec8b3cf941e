package exec

import (
	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// Several aggregates may add up the same numbers, each with another constant: sum(x), sum(x + 1), avg(x - 2). The numbers are added up once
// for all of them. A group of n rows whose x have the sum s adds s + n × c to the sum of x + c. This is done only if all numbers and the
// constant are so small that no x + c exceeds a BIGINT, because such a row would fail the statement.

// shifted is an aggregate of x + by.
type shifted struct {
	of *sums
	by int64
}

// sums are the sums of x in the groups of the rows that are being folded.
type sums struct {
	x      *eval.Program
	known  bool // the rest is about these rows
	fits   bool
	sums   []int64
	counts []int64
}

const (
	shiftedMost = 1 << 40 // numbers and constants are below this amount, so that no sum exceeds 64 bits
	shiftedRows = 1 << 20
)

// shift finds the aggregates that add up the same numbers.
func (w *worker) shift(program func(plan.Expr) *eval.Program) {
	type base struct {
		expr plan.Expr
		id   plan.ColumnID
	}
	users, bases := map[base][]int{}, []base(nil)
	by := make([]int64, len(w.Groups.Aggs))
	for a := range w.Groups.Aggs {
		x := &w.Groups.Aggs[a]
		if _, sums := w.states[a].(aggregate.Summed); !sums || x.distinct || x.from.Filter != nil || len(x.args) != 1 ||
			x.args[0].Type().Kind != types.BigInt {
			continue
		}
		e, c := constantIn(x.args[0])
		key := base{expr: e}
		if column, ok := e.(*plan.Column); ok {
			key = base{id: column.ID}
		}
		if users[key] == nil {
			bases = append(bases, key)
		}
		users[key], by[a] = append(users[key], a), c
	}
	w.shifted = make([]shifted, len(w.Groups.Aggs))
	for _, key := range bases {
		list := users[key]
		if len(list) < 2 {
			continue
		}
		x, _ := constantIn(w.Groups.Aggs[list[0]].args[0])
		of := &sums{x: program(x)}
		w.sums = append(w.sums, of)
		for _, a := range list {
			w.shifted[a] = shifted{of, by[a]}
		}
	}
}

// constantIn returns the x and the c of an expression x + c, c + x or x - c; c is 0 if it is none of these.
func constantIn(e plan.Expr) (x plan.Expr, c int64) {
	f, ok := e.(*plan.Apply)
	if !ok || len(f.Args) != 2 || f.Func != "+" && f.Func != "-" {
		return e, 0
	}
	integer := func(e plan.Expr) (v int64, ok bool) {
		if c, is := e.(*plan.Const); is && c.Type().Kind == types.BigInt {
			v, ok = c.Value.(int64)
		}
		return v, ok && v > -shiftedMost && v < shiftedMost
	}
	if f.Args[0].Type().Kind != types.BigInt || f.Args[1].Type().Kind != types.BigInt {
		return e, 0
	}
	if c, ok := integer(f.Args[1]); ok {
		if f.Func == "-" {
			c = -c
		}
		return f.Args[0], c
	}
	if c, ok := integer(f.Args[0]); ok && f.Func == "+" {
		return f.Args[1], c
	}
	return e, 0
}

// addShifted adds all rows that are being folded to an aggregate. It returns false, and adds nothing, if they have to be added one by one.
func (w *worker) addShifted(a int, t *fold.Table, b *operators.Batch) bool {
	s := &w.shifted[a]
	if s.of == nil {
		return false
	}
	of := s.of
	if !of.known {
		v, err := operators.Compute(of.x, b) // an error, or too little room, is met again
		of.known, of.fits = true, err == nil && of.add(v, b.Sel, w.into, t.Len())
	}
	if of.fits {
		w.states[a].Grow(t.Len())
		w.states[a].(aggregate.Summed).AddSums(of.sums, of.counts, s.by)
	}
	return of.fits
}

// add adds up numbers by group. It returns false if there are many groups, or if a number is large.
func (s *sums) add(v *eval.Vector, sel, groups []int32, n int) bool {
	if !aggregate.Repeat(n, len(sel)) || len(sel) > shiftedRows {
		return false
	}
	s.sums, s.counts = append(s.sums[:0], make([]int64, n)...), append(s.counts[:0], make([]int64, n)...)
	sums, counts, x, odd := s.sums, s.counts, v.Ints, uint64(0)
	groups = groups[:len(sel)]
	switch {
	case v.Any:
		for k, i := range sel {
			if !v.IsNull(i) {
				sums[groups[k]] += x[i]
				counts[groups[k]]++
				odd |= uint64(x[i] + shiftedMost)
			}
		}
	case n == 1: // in a register
		sum := int64(0)
		for _, i := range sel {
			sum += x[i]
			odd |= uint64(x[i] + shiftedMost)
		}
		sums[0], counts[0] = sum, int64(len(sel))
	default:
		for k, i := range sel {
			sums[groups[k]] += x[i]
			counts[groups[k]]++
			odd |= uint64(x[i] + shiftedMost)
		}
	}
	return odd < 2*shiftedMost
}
