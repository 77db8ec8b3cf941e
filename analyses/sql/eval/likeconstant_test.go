package eval

import (
	"math/rand/v2"
	"testing"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// TestLikeOfAConstant: LIKE with a constant is LIKE with a column that has it in all rows, for NULL, too.
func TestLikeOfAConstant(t *testing.T) {
	of, text := plan.Base{T: types.Of(types.Bool)}, plan.Base{T: types.Of(types.Text)}
	r := rand.New(rand.NewPCG(61, 62))
	random := func(from []string) (s string) {
		for range r.IntN(6) {
			s += from[r.IntN(len(from))]
		}
		return s
	}
	const rows = 40
	for range 3000 {
		pattern := random([]string{"%", "%", "a", "b", "é", "_", "\xff"})
		name := []string{"LIKE", "ILIKE"}[r.IntN(2)]
		columns := []*Vector{NewVector(types.Text, rows), NewVector(types.Text, rows)}
		var sel []int32
		for i := range int32(rows) {
			if columns[0].Texts[i] = random([]string{"a", "b", "A", "é", "\xff", "%"}); r.IntN(9) == 0 {
				columns[0].SetNull(i)
			}
			if columns[1].Texts[i] = pattern; r.IntN(3) > 0 {
				sel = append(sel, i)
			}
		}
		run := func(p plan.Expr) *Vector {
			x := &plan.Column{Base: text, ID: 0}
			program, err := Compile(&plan.Apply{Base: of, Func: name, Args: []plan.Expr{x, p}}, plan.Layout{0: 0, 1: 1})
			if err != nil {
				t.Fatal(err)
			}
			v, err := program.Run(columns, rows, sel)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		got, want := run(&plan.Const{Base: text, Value: pattern}), run(&plan.Column{Base: text, ID: 1})
		for _, i := range sel {
			if got.IsNull(i) != want.IsNull(i) || !want.IsNull(i) && got.Bools[i] != want.Bools[i] {
				t.Fatalf("%q %s %q: %v, and not %v", columns[0].Texts[i], name, pattern, got.Bools[i], want.Bools[i])
			}
		}
	}
}
