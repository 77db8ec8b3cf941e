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
// however many cancel out.
type variances struct {
	finiteSums
	present
	sample, root bool
	squares      []products
}

// Its cells are those of finiteSums, and the squares.
var varianceCells = append(finiteCells[:3:3], productsCells...)

const squaresCell = 3

func (v *variances) Grow(groups int) int64 {
	return v.grow(groups) + productsBytes*longer(&v.squares, groups)
}

func (v *variances) Add(r *Rows) (bytes int64, _ error) {
	sel, groups, counts := v.of(r, r.Args[0])
	v.count(groups, counts, 1)
	for k, i := range sel {
		f, g := r.Args[0].Floats[i], groups[k]
		if bytes += v.add(g, f, 1); f-f == 0 {
			bytes += v.squares[g].add(f, f)
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
	return spread(v.n[g], &v.squares[g], &v.sums[g], &v.sums[g])
}

// spread returns n·Σab − Σa·Σb, which is n² times the population covariance.
func spread(n int64, ab *products, a, b *exact.Sum) *big.Rat {
	s := ab.rat()
	s.Mul(s, new(big.Rat).SetInt64(n))
	return s.Sub(s, new(big.Rat).Mul(rat(a), rat(b)))
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
		if n > 0 {
			v.squares[row].encode(t, row, cell+squaresCell)
		}
	}
	clear(v.squares)
	v.squares = v.squares[:0]
	v.encode(t, cell)
}

func (v *variances) Decode(t *fold.Table, cell, row int, g int32) error {
	v.decode(t, cell, row, g)
	v.squares[g].decode(t, row, cell+squaresCell)
	return nil
}
