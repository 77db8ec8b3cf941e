package bounds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// drawnCondition returns a condition on a column, with constants that draw returns; nil is NULL.
func drawnCondition(r *rand.Rand, column *plan.Column, draw func() any, depth int) plan.Expr {
	call := func(f string, args ...plan.Expr) plan.Expr { return plan.Call(types.Of(types.Bool), 0, f, args...) }
	constant := func() plan.Expr {
		t := column.T
		v := draw()
		if n, whole := v.(int64); whole && t.Kind == types.Decimal && r.IntN(2) == 0 { // with other digits than the column
			t, v = types.DecimalOf(18, 3), n*10+int64(r.IntN(2))*5
		}
		if r.IntN(12) == 0 {
			v = nil
		}
		return plan.Value(t, 0, v)
	}
	if depth > 0 && r.IntN(2) == 0 {
		a := drawnCondition(r, column, draw, depth-1)
		switch r.IntN(3) {
		case 0:
			return call("NOT", a)
		case 1:
			return call("AND", a, drawnCondition(r, column, draw, depth-1))
		}
		return call("OR", a, drawnCondition(r, column, draw, depth-1))
	}
	switch kind := r.IntN(12); {
	case kind == 0:
		return call("IS NULL", column)
	case kind < 3:
		args := []plan.Expr{column}
		for range 1 + r.IntN(3) { // which have the type of the column
			args = append(args, plan.Value(column.T, 0, []any{draw(), draw(), draw(), nil}[r.IntN(4)]))
		}
		return call("IN", args...)
	case kind < 6 && column.T.Kind == types.Text:
		pattern, _ := draw().(string)
		f := []string{"LIKE", "LIKE", "starts_with"}[r.IntN(3)]
		if f == "LIKE" {
			pattern += []string{"", "%", "%%", "_", "%a", "_%"}[r.IntN(6)]
		}
		return call(f, column, plan.Value(column.T, 0, pattern))
	case kind == 6:
		return plan.Value(types.Of(types.Bool), 0, []any{true, false, nil}[r.IntN(3)])
	}
	op := []string{"=", "<>", "<", "<=", ">", ">="}[r.IntN(6)]
	if r.IntN(3) == 0 {
		return call(op, constant(), column)
	}
	return call(op, column, constant())
}

// FuzzOutcomes: whatever values some rows have, a condition is true or false for one of them only if Outcomes says so.
func FuzzOutcomes(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { outcomes(t, seed, 500) })
}

// TestOutcomesAreSharp: where the ends of the values are known and they are few, Outcomes mostly says no more than what the condition is.
func TestOutcomesAreSharp(t *testing.T) {
	const rounds = 30_000
	if excluded, sharp, listed := outcomes(t, 6, rounds); excluded < rounds/5 || sharp < rounds*3/4 || listed < rounds/10 {
		t.Errorf("of %d, %d are excluded, %d are exactly known, %d are true for certain values only", rounds, excluded, sharp, listed)
	}
}

// outcomes draws conditions and values, and returns how many conditions exclude all values, how many are exactly known, and how many are
// true for certain values only.
func outcomes(t *testing.T, seed uint64, rounds int) (excluded, sharp, listed int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	words := []string{"", "a", "ab", "abc", "abd", "b", "ba", "é", "éa", "a%", "a_", strings.Repeat("a", 20)}
	for range rounds {
		of := []types.Type{types.Of(types.BigInt), types.DecimalOf(9, 2), types.Of(types.Date), types.Of(types.Text),
			types.Of(types.Double)}[r.IntN(5)]
		draw := func() any {
			switch of.Kind {
			case types.Text:
				return words[r.IntN(len(words))]
			case types.Double:
				if r.IntN(12) == 0 {
					return []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), math.MaxFloat64}[r.IntN(5)]
				}
				return float64(r.IntN(7)-3) / 2
			case types.BigInt:
				if r.IntN(12) == 0 {
					return []int64{math.MinInt64, math.MaxInt64, math.MinInt64 + 1, math.MaxInt64 - 1}[r.IntN(4)]
				}
			}
			return int64(r.IntN(7) - 3)
		}
		column := plan.Field{ID: 5, Type: of}.Ref(0)
		cond := drawnCondition(r, column, draw, 3)
		v := Values{Type: of, None: true}
		var values []any
		for range 1 + r.IntN(3) {
			x := draw()
			if r.IntN(5) == 0 {
				x, v.Nulls = nil, true
			}
			values = append(values, x)
		}
		known := r.IntN(6) > 0
		for _, x := range values {
			if x == nil {
				continue
			}
			first := v.None
			v.None = false
			switch x := x.(type) {
			case string:
				if v.Texts = known; first {
					v.First, v.Last = x, x
				}
				v.First, v.Last = min(v.First, x), max(v.Last, x)
			default:
				n := eval.Sortable(vectorOf(of, []any{x}), 0)
				if v.Numbers = known; first {
					v.Least, v.Most = n, n
				}
				v.Least, v.Most = min(v.Least, n), max(v.Most, n)
			}
		}
		if v.Texts && r.IntN(3) == 0 { // shortened ends
			v.First, v.Last, v.Cut = v.First[:len(v.First)/2], v.Last+"~", true
		}
		p, err := eval.Compile(cond, plan.Layout{5: 0})
		if err != nil {
			t.Fatal(err)
		}
		found, err := p.Run([]*eval.Vector{vectorOf(of, values)}, len(values), nil)
		if err != nil {
			t.Fatal(err)
		}
		is, not := false, false
		only, some := Only(cond, of)
		if some {
			listed++
		}
		for i := range values {
			if !found.IsNull(int32(i)) && found.Bools[i] && some && !slices.Contains(only, values[i]) {
				t.Fatalf("%s is true for %v, and not only for %v", shown(cond), values[i], only)
			}
			if !found.IsNull(int32(i)) {
				is, not = is || found.Bools[i], not || !found.Bools[i]
			}
		}
		may, mayNot := v.Outcomes(cond)
		if is && !may || not && !mayNot {
			t.Fatalf("%s\nof %v, %+v: true %t, false %t; said %t, %t", shown(cond), values, v, is, not, may, mayNot)
		}
		if !may {
			excluded++
		}
		if may == is {
			sharp++
		}
	}
	return excluded, sharp, listed
}

func shown(e plan.Expr) string {
	switch e := e.(type) {
	case *plan.Const:
		return fmt.Sprintf("%v", e.Value)
	case *plan.Apply:
		var args []string
		for _, a := range e.Args {
			args = append(args, shown(a))
		}
		return e.Func + "(" + strings.Join(args, ", ") + ")"
	}
	return "x"
}

func vectorOf(t types.Type, values []any) *eval.Vector {
	v := eval.NewVector(t.Kind, len(values))
	for i, x := range values {
		switch x := x.(type) {
		case nil:
			v.SetNull(int32(i))
		case string:
			v.Texts[i] = x
		case float64:
			v.Floats[i] = x
		case int64:
			v.Ints[i] = x
		}
	}
	return v
}
