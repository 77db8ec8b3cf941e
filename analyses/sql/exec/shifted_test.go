package exec

import (
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// TestAggregatesThatShareSums: those of the same numbers with small constants share the numbers' sums; all others do not.
func TestAggregatesThatShareSums(t *testing.T) {
	of := plan.Base{T: types.Of(types.BigInt)}
	x := func() plan.Expr { return &plan.Column{Base: of, ID: 7} }
	constant := func(v int64) plan.Expr { return &plan.Const{Base: of, Value: v} }
	apply := func(f string, args ...plan.Expr) plan.Expr { return &plan.Apply{Base: of, Func: f, Args: args} }
	sum := func(e plan.Expr) *plan.Aggregate { return &plan.Aggregate{Base: of, Func: "sum", Args: []plan.Expr{e}} }
	distinct, filtered := sum(x()), sum(x())
	distinct.Distinct = true
	filtered.Filter = &plan.Const{Base: plan.Base{T: types.Of(types.Bool)}, Value: true}
	list := []struct {
		a      *plan.Aggregate
		shares bool
		by     int64
	}{
		{sum(x()), true, 0}, {sum(apply("+", x(), constant(5))), true, 5}, {sum(apply("+", constant(6), x())), true, 6},
		{sum(apply("-", x(), constant(7))), true, -7}, {sum(apply("-", constant(7), x())), false, 0},
		{sum(apply("+", x(), constant(shiftedMost-1))), true, shiftedMost - 1}, {sum(apply("+", x(), constant(shiftedMost))), false, 0},
		{sum(apply("+", x(), &plan.Const{Base: of})), false, 0}, {sum(apply("*", x(), constant(2))), false, 0},
		{sum(&plan.Column{Base: of, ID: 8}), false, 0}, {distinct, false, 0}, {filtered, false, 0},
	}
	node := &plan.Aggregation{Sets: [][]int{{}}}
	for _, l := range list {
		node.Aggs = append(node.Aggs, l.a)
	}
	w := &worker{Leaf: &Leaf{Groups: NewGroups(node)}, meter: eval.NewMeter()}
	w.prepareEnd(func(e plan.Expr) *eval.Program {
		p, err := eval.CompileFor(e, plan.Layout{7: 0, 8: 1}, w.meter)
		if err != nil {
			t.Fatal(err)
		}
		return p
	})
	for i, l := range list {
		if s := w.shifted[i]; (s.of != nil) != l.shares || s.by != l.by {
			t.Errorf("aggregate %d shares sums: %v, with constant %d", i, s.of != nil, s.by)
		}
	}
	if len(w.sums) != 1 {
		t.Errorf("%d sums", len(w.sums))
	}
	s, v := w.sums[0], eval.NewVector(types.BigInt, 4)
	for _, one := range []int64{0, shiftedMost - 1, -shiftedMost, shiftedMost, -shiftedMost - 1, -1 << 63, 1<<63 - 1} {
		v.Ints[2] = one
		if fits := s.add(v, []int32{0, 1, 2, 3}, make([]int32, 4), 1); fits != (-shiftedMost <= one && one < shiftedMost) {
			t.Errorf("%d fits: %v", one, fits)
		}
	}
}
