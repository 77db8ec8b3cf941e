package eval

import (
	"math/rand/v2"
	"testing"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// TestWordsOfILIKE: several words with OR in between are one search if they are searched in the same text, and the answer is that of one
// search after the other.
func TestWordsOfILIKE(t *testing.T) {
	of, text := plan.Base{T: types.Of(types.Bool)}, plan.Base{T: types.Of(types.Text)}
	r := rand.New(rand.NewPCG(63, 64))
	letters := []string{"a", "b", "K", "\u212a", "É", "é", "\xff", "%", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}
	random := func(n int, of []string) (s string) {
		for range n {
			s += of[r.IntN(len(of))]
		}
		return s
	}
	const rows = 30
	merged := 0
	for range 2000 {
		columns := make([]*Vector, 6) // two of texts, then patterns
		for c := range columns {
			columns[c] = NewVector(types.Text, rows)
			p := "%" + random(1+r.IntN(3), letters[:6]) + "%"
			if r.IntN(20) == 0 {
				p = random(r.IntN(4), letters)
			}
			for i := range int32(rows) {
				if columns[c].Texts[i] = p; c > 1 {
					continue
				}
				if columns[c].Texts[i] = random(r.IntN(7), letters); r.IntN(9) == 0 {
					columns[c].SetNull(i)
				}
			}
		}
		column := func(c int) plan.Expr { return &plan.Column{Base: text, ID: plan.ColumnID(c)} }
		var constant, plain plan.Expr
		for c := 2; c < len(columns); c++ {
			x := min(1, r.IntN(8)/7)
			one := func(p plan.Expr) plan.Expr {
				return &plan.Apply{Base: of, Func: "ILIKE", Args: []plan.Expr{column(x), p}}
			}
			a, b := one(&plan.Const{Base: text, Value: columns[c].Texts[0]}), one(column(c))
			if constant == nil {
				constant, plain = a, b
				continue
			}
			constant = &plan.Apply{Base: of, Func: "OR", Args: []plan.Expr{constant, a}}
			plain = &plan.Apply{Base: of, Func: "OR", Args: []plan.Expr{plain, b}}
		}
		run := func(e plan.Expr) *Vector {
			program, err := Compile(e, plan.Layout{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5})
			if err != nil {
				t.Fatal(err)
			}
			if p, is := program.root.(*perEntry); is {
				if k, is := p.x.(*like); is && len(k.words) == len(columns)-2 {
					merged++
				}
			}
			v, err := program.Run(columns, rows, nil)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		got, want := run(constant), run(plain)
		for i := range int32(rows) {
			if got.IsNull(i) != want.IsNull(i) || !want.IsNull(i) && got.Bools[i] != want.Bools[i] {
				t.Fatalf("%q, %q in %q: %v, and not %v", columns[0].Texts[i], columns[1].Texts[i], []string{columns[2].Texts[0],
					columns[3].Texts[0], columns[4].Texts[0], columns[5].Texts[0]}, got.Bools[i], want.Bools[i])
			}
		}
	}
	if merged < 100 {
		t.Errorf("%d of 2000 are one search", merged)
	}
}
