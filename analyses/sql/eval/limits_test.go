package eval_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	. "posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// TestNumbersAtTheirLimits: sums, differences, products and conversions equal those of package big, and the first row whose result does not
// fit is the one that fails. Most batches have at most one number near a limit, so that all others are computed without checks.
func TestNumbersAtTheirLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	most := int64(1e18 - 1)
	edges := map[types.Kind][]int64{
		types.Decimal: {0, 1, -1, most, -most, most - 1, most / 2, -most/2 - 1, 1e9, -1e9, 1e9 + 1, 999999999, 99, -100, 1e16, -1e16, 1e16 - 1},
		types.BigInt: {0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1 << 62, -1 << 62, 1<<62 + 1, 1 << 31, 3037000500,
			-3037000500, 3037000499},
	}
	wide := types.DecimalOf(types.MaxPrecision, 0)
	a, b := plan.Typed(&plan.Column{ID: 1}, wide, syntax.Pos(1)), plan.Typed(&plan.Column{ID: 2}, wide, syntax.Pos(1))
	n, m := plan.Typed(&plan.Column{ID: 1}, types.Of(types.BigInt), syntax.Pos(1)),
		plan.Typed(&plan.Column{ID: 2}, types.Of(types.BigInt), syntax.Pos(1))
	apply := func(op string, t types.Type, args ...plan.Expr) plan.Expr {
		return plan.Typed(&plan.Apply{Func: op, Args: args}, t, syntax.Pos(1))
	}
	cast := func(x plan.Expr, to types.Type) plan.Expr { return plan.Typed(&plan.Cast{X: x}, to, syntax.Pos(1)) }
	big1 := func(op func(z, x, y *big.Int) *big.Int) func(x, y int64) *big.Int {
		return func(x, y int64) *big.Int { return op(new(big.Int), big.NewInt(x), big.NewInt(y)) }
	}
	times := func(k int64) func(x, y int64) *big.Int {
		return func(x, _ int64) *big.Int { return new(big.Int).Mul(big.NewInt(x), big.NewInt(k)) }
	}
	cases := []struct {
		e    plan.Expr
		want func(x, y int64) *big.Int
		most int64 // digits that the result may have; 0: all that fit 64 bits
	}{
		{apply("+", wide, a, b), big1((*big.Int).Add), most},
		{apply("-", wide, a, b), big1((*big.Int).Sub), most},
		{apply("*", wide, a, b), big1((*big.Int).Mul), most},
		{apply("+", types.Of(types.BigInt), n, m), big1((*big.Int).Add), 0},
		{apply("-", types.Of(types.BigInt), n, m), big1((*big.Int).Sub), 0},
		{apply("*", types.Of(types.BigInt), n, m), big1((*big.Int).Mul), 0},
		{cast(a, types.DecimalOf(16, 0)), times(1), 1e16 - 1},
		{cast(a, types.DecimalOf(18, 2)), times(100), most},
		{cast(n, types.DecimalOf(18, 0)), times(1), most},
		{cast(n, types.DecimalOf(10, 2)), times(100), 1e10 - 1},
	}
	for round := range 4000 {
		c := cases[round%len(cases)]
		kind := wide.Kind
		if c.most == 0 || round%len(cases) >= 8 {
			kind = types.BigInt
		}
		const rows = 9
		x, y := NewVector(kind, rows), NewVector(kind, rows)
		for i := range rows {
			x.Ints[i], y.Ints[i] = r.Int64N(2001)-1000, r.Int64N(2001)-1000
			if r.IntN(12) == 0 {
				x.Ints[i] = edges[kind][r.IntN(len(edges[kind]))]
			}
			if r.IntN(12) == 0 {
				y.Ints[i] = edges[kind][r.IntN(len(edges[kind]))]
			}
			if r.IntN(20) == 0 {
				x.SetNull(int32(i))
			}
		}
		p, err := Compile(c.e, byNumber)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Run([]*Vector{x, y}, rows, nil)
		low, high := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
		if c.most != 0 {
			low, high = big.NewInt(-c.most), big.NewInt(c.most)
		}
		fails := int32(-1)
		for i := int32(0); i < rows && fails < 0; i++ {
			if x.IsNull(i) {
				if err == nil && !v.IsNull(i) {
					t.Fatalf("case %d: row %d is not NULL", round%len(cases), i)
				}
				continue
			}
			want := c.want(x.Ints[i], y.Ints[i])
			if want.Cmp(low) < 0 || want.Cmp(high) > 0 {
				fails = i
			} else if err == nil && v.Ints[i] != want.Int64() {
				t.Fatalf("case %d: %d and %d give %d, want %s", round%len(cases), x.Ints[i], y.Ints[i], v.Ints[i], want)
			}
		}
		failed := int32(-1)
		if e := (*Error)(nil); errors.As(err, &e) {
			failed = e.Row
		} else if err != nil {
			t.Fatal(err)
		}
		if failed != fails {
			t.Fatalf("case %d: row %d fails with %v, want %d of %v, %v", round%len(cases), failed, err, fails, x.Ints, y.Ints)
		}
	}
}
