package aggregate

import (
	"math"
	"math/big"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

var stddevSamp = variance("stddev_samp", "The standard deviation of a sample.", true, true, "stddev")
var stddevPop = variance("stddev_pop", "The standard deviation of all.", false, true)
var varSamp = variance("var_samp", "The variance of a sample.", true, false, "variance")
var varPop = variance("var_pop", "The variance of all.", false, false)

func variance(name, about string, sample, root bool, aliases ...string) Aggregate {
	return Aggregate{
		Function: types.Function{Name: name, Aliases: aliases, Forms: []string{"DOUBLE -> DOUBLE"}, Nulls: types.Skips, About: about},
		New:      func(Call) State { return &variances{sample: sample, root: root} },
	}
}

// variances keeps exact sums of values and of their squares. So a variance is exact, and rounded once, whatever the order of rows and
// however many cancel out. The square of a DOUBLE is the exact sum of two DOUBLEs, the rounded square and the rounding error, unless it
// overflows or underflows. The squares of very large and very small values are scaled by a power of two and added up separately.
type variances struct {
	finiteSums
	present
	sample, root bool
	squares      []exact.Sum
	far          []*farSquares // nil where there are none
}

// farSquares are the sums of the squares of large values times 1/farScale², and of small values times farScale².
type farSquares struct{ large, small exact.Sum }

const (
	largeValue = 0x1p500  // from here on values are large
	smallValue = 0x1p-480 // up to here they are small
	farScale   = 0x1p600

	squareBytes = 40 // of an exact.Sum and a pointer
	farBytes    = 2 * wideBytes
)

// Its cells are those of finiteSums, the squares, and those of large and of small values.
var varianceCells = append(finiteCells[:3:3], fold.Agg{Kind: fold.Exact}, fold.Agg{Kind: fold.Exact}, fold.Agg{Kind: fold.Exact})

const squares, largeSquares, smallSquares = 3, 4, 5

func (v *variances) Grow(groups int) int64 {
	longer(&v.far, groups)
	return v.grow(groups) + squareBytes*longer(&v.squares, groups)
}

func (v *variances) Add(r *Rows) (bytes int64, _ error) {
	sel, groups, counts := v.of(r, r.Args[0])
	v.count(groups, counts, 1)
	for k, i := range sel {
		f, g := r.Args[0].Floats[i], groups[k]
		bytes += v.add(g, f, 1)
		switch a := math.Abs(f); {
		case f-f != 0:
		case a < largeValue && a > smallValue || a == 0:
			v.squares[g].AddProduct(f, f)
		default:
			if v.far[g] == nil {
				v.far[g] = &farSquares{}
				bytes += farBytes
			}
			if a >= largeValue {
				v.far[g].large.AddProduct(f/farScale, f/farScale)
			} else {
				v.far[g].small.AddProduct(f*farScale, f*farScale)
			}
		}
	}
	return bytes, nil
}

func (v *variances) Value(g int32, out *eval.Vector, row int32) error {
	n := v.n[g]
	by := n
	if v.sample {
		by--
	}
	_, bad := v.special(g)
	switch {
	case by < 1:
		out.SetNull(row)
	case bad:
		out.Floats[row] = math.NaN()
	default:
		s := v.spread(g)
		s.Quo(s, new(big.Rat).Mul(new(big.Rat).SetInt64(n), new(big.Rat).SetInt64(by)))
		if v.root {
			out.Floats[row] = root(s)
		} else {
			out.Floats[row], _ = s.Float64()
		}
	}
	return nil
}

// spread returns n times the sum of the squares less the square of the sum.
func (v *variances) spread(g int32) *big.Rat {
	all := rat(&v.squares[g])
	if far := v.far[g]; far != nil {
		scale := new(big.Rat).SetFloat64(farScale)
		scale.Mul(scale, scale)
		all.Add(all, new(big.Rat).Mul(rat(&far.large), scale))
		all.Add(all, new(big.Rat).Quo(rat(&far.small), scale))
	}
	all.Mul(all, new(big.Rat).SetInt64(v.n[g]))
	s := rat(&v.sums[g])
	return all.Sub(all, s.Mul(s, s))
}

func rat(s *exact.Sum) *big.Rat {
	r, _ := s.Rat()
	return r
}

// root returns the square root of a number that is not negative. It computes with 200 bits, so except in extremely rare cases
// the result is correctly rounded.
func root(r *big.Rat) float64 {
	out, _ := new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetPrec(200).SetRat(r)).Float64()
	return out
}

func (v *variances) Cells() []fold.Agg { return varianceCells }

func (v *variances) Encode(t *fold.Table, cell int) {
	for row, n := range v.n {
		if n == 0 {
			continue
		}
		t.AddExact(row, cell+squares, &v.squares[row])
		if far := v.far[row]; far != nil {
			t.AddExact(row, cell+largeSquares, &far.large)
			t.AddExact(row, cell+smallSquares, &far.small)
		}
	}
	clear(v.squares)
	clear(v.far)
	v.squares, v.far = v.squares[:0], v.far[:0]
	v.encode(t, cell)
}

func (v *variances) Decode(t *fold.Table, cell, row int, g int32) error {
	v.decode(t, cell, row, g)
	v.squares[g].AddSum(t.Exact(row, cell+squares))
	v.far[g] = &farSquares{}
	v.far[g].large.AddSum(t.Exact(row, cell+largeSquares))
	v.far[g].small.AddSum(t.Exact(row, cell+smallSquares))
	return nil
}
