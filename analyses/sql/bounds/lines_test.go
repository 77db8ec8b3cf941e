package bounds

import (
	"math/rand/v2"
	"slices"
	"testing"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// TestLinesAreThoseThatMayFulfilTheCondition compares them with what the condition is for each line, and draws parts that may be anything.
func TestLinesAreThoseThatMayFulfilTheCondition(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	boolean, text, number := types.Of(types.Bool), types.Of(types.Text), types.Of(types.BigInt)
	file, line, other := plan.Field{ID: 7, Type: text}.Ref(0), plan.Field{ID: 8, Type: number}.Ref(0), plan.Field{ID: 9, Type: number}.Ref(0)
	type condition struct {
		e     plan.Expr
		is    func(file string, line int64) bool
		fails bool // may fail
	}
	var draw func(depth int) condition
	draw = func(depth int) condition {
		switch kind := r.IntN(9); {
		case kind < 5 && depth > 0:
			a, b := draw(depth-1), draw(depth-1)
			if kind < 2 {
				return condition{plan.Call(boolean, 0, "OR", a.e, b.e),
					func(f string, n int64) bool { return a.is(f, n) || b.is(f, n) || a.fails || b.fails }, a.fails || b.fails}
			}
			return condition{plan.Call(boolean, 0, "AND", a.e, b.e), func(f string, n int64) bool { return a.is(f, n) && (a.fails || b.is(f, n)) },
				a.fails || b.fails}
		case kind == 5:
			name := string("fgh"[r.IntN(3)])
			return condition{plan.Call(boolean, 0, "=", file, plan.Value(text, 0, name)), func(f string, _ int64) bool { return f == name }, false}
		case kind == 6:
			return condition{plan.Call(boolean, 0, ">", other, line), func(string, int64) bool { return true }, false}
		case kind == 7:
			if r.IntN(3) > 0 {
				return condition{plan.Value(boolean, 0, false), func(string, int64) bool { return false }, false}
			}
			fails := plan.Call(boolean, 0, ">", plan.Call(number, 0, "+", other, other), line)
			return condition{fails, func(string, int64) bool { return true }, true}
		}
		args, lines := []plan.Expr{line}, []int64{}
		for range 1 + r.IntN(6) {
			n := int64(r.IntN(12)) - 2
			args, lines = append(args, plan.Value(number, 0, n)), append(lines, n)
		}
		return condition{plan.Call(boolean, 0, "IN", append(args, plan.Value(number, 0, nil))...),
			func(_ string, n int64) bool { return slices.Contains(lines, n) }, false}
	}
	some := 0
	for range 3000 {
		c := draw(4)
		l := Lines{Cond: c.e, File: 7, Line: 8}
		for _, f := range []string{"f", "g", "x"} {
			lines, all := l.Of(f)
			if !slices.IsSorted(lines) || len(slices.Compact(slices.Clone(lines))) != len(lines) {
				t.Fatalf("%v", lines)
			}
			for n := int64(1); n < 12; n++ {
				if c.is(f, n) && !all && !slices.Contains(lines, uint64(n)) {
					t.Fatalf("line %d of %s is not among %v", n, f, lines)
				}
			}
			if !all {
				some++
			}
		}
	}
	if some < 2000 {
		t.Errorf("%d of 9000 files are read in part", some)
	}
}
