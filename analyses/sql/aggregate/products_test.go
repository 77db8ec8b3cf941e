package aggregate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestProductsAreExact compares with rational numbers: factors of any size, at the bounds of what is near, and subnormal.
func TestProductsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	factor := func() float64 {
		switch r.IntN(6) {
		case 0:
			return []float64{0, math.MaxFloat64, -math.MaxFloat64, 5e-324, 0x1p-1022, 0x1p500, -0x1p-480}[r.IntN(7)]
		case 1:
			return math.Float64frombits(r.Uint64N(1 << 52)) // subnormal
		case 2:
			return math.Ldexp(1+r.Float64(), []int{-481, -480, -479, 499, 500}[r.IntN(5)])
		}
		return math.Ldexp(1+r.Float64(), r.IntN(2046)-1022) * float64(1-2*r.IntN(2))
	}
	for range 2000 {
		var sum products
		want := new(big.Rat)
		for range 1 + r.IntN(6) {
			a, b := factor(), factor()
			sum.add(a, b)
			x, y := new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b)
			if want.Add(want, x.Mul(x, y)); sum.rat().Cmp(want) != 0 {
				t.Fatalf("with %g · %g the sum is %v, want %v", a, b, sum.rat(), want)
			}
		}
	}
}
