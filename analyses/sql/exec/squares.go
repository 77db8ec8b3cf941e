package exec

import (
	"math"
	"math/big"

	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

// A variance is folded as exact sums of values and of their squares. So it is exact, and rounded once, whatever the order of
// merging. The square of a DOUBLE is the exact sum of two DOUBLEs, the rounded square and the rounding error, unless it
// overflows or underflows. The squares of very large and very small values are scaled by a power of two and added up
// separately.

// Cells of a deviation, counted from its first: squares, then those of large values times 1/farScale² and those of small values times
// farScale².
const (
	squares      = 3
	largeSquares = 4
	smallSquares = 5
)

const (
	largeValue = 0x1p500  // from here on values are large
	smallValue = 0x1p-480 // up to here they are small
	farScale   = 0x1p600
)

// addSquare adds the square of a finite value: to near if it is in range, else to the table.
func (x *aggregate) addSquare(t *fold.Table, near *exact.Sum, row int, f float64) {
	switch a := math.Abs(f); {
	case a >= largeValue:
		var s exact.Sum
		s.AddProduct(f/farScale, f/farScale)
		t.AddExact(row, x.cell+largeSquares, &s)
	case a <= smallValue && a > 0:
		var s exact.Sum
		s.AddProduct(f*farScale, f*farScale)
		t.AddExact(row, x.cell+smallSquares, &s)
	default:
		near.AddProduct(f, f)
	}
}

// deviation returns the result of a group, false if it has too few values.
func (x *aggregate) deviation(t *fold.Table, row int) (float64, bool) {
	n, name := t.Sum(row, x.cell+1), x.from.Func
	bad := len(t.Least(row, x.cell+2)) > 0
	return tail.Variance(n, bad, name == "var_samp" || name == "stddev_samp", name == "stddev_samp" || name == "stddev_pop", func() *big.Rat {
		sum := func(cell int) *big.Rat { r, _ := t.Exact(row, x.cell+cell).Rat(); return r }
		scale := new(big.Rat).SetFloat64(farScale)
		scale.Mul(scale, scale)
		all := sum(squares)
		all.Add(all, new(big.Rat).Mul(sum(largeSquares), scale))
		all.Add(all, new(big.Rat).Quo(sum(smallSquares), scale))
		all.Mul(all, new(big.Rat).SetInt64(n))
		s := sum(0)
		return all.Sub(all, new(big.Rat).Mul(s, s))
	})
}
