package tail

import (
	"math"
	"math/big"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
)

// moments are exact sums of a group's values, of their squares and of their products. The statistics computed from them are
// rounded only at the end, so neither the order nor cancellation affects them.
type moments struct {
	n                int64
	x, y, xx, yy, xy exact.Sum
	far              *farMoments // sums over the values whose squares package exact cannot hold
	bad              bool        // a value was infinite or NaN
}

// farMoments holds sums of products that are out of the range of package exact.
type farMoments struct{ xx, yy, xy big.Rat }

const (
	momentsBytes = 5*32 + 32
	farBytes     = 2000
	maxSquare    = 0x1p500 // products of values between minSquare and maxSquare, and their rounding errors, are DOUBLEs
	minSquare    = 0x1p-480
)

// near reports whether products of v are exact sums of two DOUBLEs.
func near(v float64) bool {
	a := math.Abs(v)
	return a == 0 || a < maxSquare && a > minSquare
}

func (m *moments) add(x, y float64, two bool) (bytes int64) {
	m.n++
	if math.IsNaN(x-x) || math.IsNaN(y-y) {
		m.bad = true
		return 0
	}
	m.x.Add(x)
	m.y.Add(y)
	if near(x) && near(y) {
		m.xx.AddProduct(x, x)
		if two {
			m.yy.AddProduct(y, y)
			m.xy.AddProduct(x, y)
		}
		return 0
	}
	if m.far == nil {
		m.far = &farMoments{}
		bytes = farBytes
	}
	rx, ry := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y)
	m.far.xx.Add(&m.far.xx, new(big.Rat).Mul(rx, rx))
	m.far.yy.Add(&m.far.yy, new(big.Rat).Mul(ry, ry))
	m.far.xy.Add(&m.far.xy, new(big.Rat).Mul(rx, ry))
	return bytes
}

func rat(s *exact.Sum) *big.Rat {
	r, _ := s.Rat()
	return r
}

// spread returns n·Σab − Σa·Σb, which is n² times the population covariance.
func (m *moments) spread(ab, a, b *exact.Sum, far func(*farMoments) *big.Rat) *big.Rat {
	s := rat(ab)
	if m.far != nil {
		s.Add(s, far(m.far))
	}
	s.Mul(s, new(big.Rat).SetInt64(m.n))
	return s.Sub(s, new(big.Rat).Mul(rat(a), rat(b)))
}

func (m *moments) spreadX() *big.Rat {
	return m.spread(&m.xx, &m.x, &m.x, func(f *farMoments) *big.Rat { return &f.xx })
}

// root returns the square root of a number that is not negative. It computes with 200 bits, so except in extremely rare cases
// the result is correctly rounded.
func root(r *big.Rat) float64 {
	out, _ := new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetPrec(200).SetRat(r)).Float64()
	return out
}

// variances is var_samp, var_pop, stddev_samp and stddev_pop.
type variances struct {
	sample, root bool
	m            []moments
}

func (v *variances) grow(groups int) int64 { return momentsBytes * more(&v.m, groups) }

func (v *variances) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	x := args[0]
	for k, i := range rows {
		if !x.IsNull(i) {
			bytes += v.m[groups[k]].add(x.Floats[i], 0, false)
		}
	}
	return bytes, nil
}

func (v *variances) result(groups int) (*eval.Vector, error) {
	out := eval.NewVector(types.Double, groups)
	for g := range v.m {
		m := &v.m[g]
		f, some := Variance(m.n, m.bad, v.sample, v.root, m.spreadX)
		if out.Floats[g] = f; !some {
			setNull(out, int32(g))
		}
	}
	return out, nil
}

// Variance returns the variance of n values, or its root if deviation is set, of a sample or of the population. It returns false if there
// are too few values. spread returns n times the sum of their squares less the square of their sum. bad says that a value was infinite or
// NaN.
func Variance(n int64, bad, sample, deviation bool, spread func() *big.Rat) (float64, bool) {
	by := n
	if sample {
		by--
	}
	switch {
	case by < 1:
		return 0, false
	case bad:
		return math.NaN(), true
	}
	s := spread()
	s.Quo(s, new(big.Rat).Mul(new(big.Rat).SetInt64(n), new(big.Rat).SetInt64(by)))
	if deviation {
		return root(s), true
	}
	f, _ := s.Float64()
	return f, true
}

// correlations is corr.
type correlations struct{ m []moments }

func (c *correlations) grow(groups int) int64 { return momentsBytes * more(&c.m, groups) }

func (c *correlations) add(args []*eval.Vector, rows, groups []int32) (bytes int64, _ error) {
	for k, i := range rows {
		if !args[0].IsNull(i) && !args[1].IsNull(i) {
			bytes += c.m[groups[k]].add(args[0].Floats[i], args[1].Floats[i], true)
		}
	}
	return bytes, nil
}

func (c *correlations) result(groups int) (*eval.Vector, error) {
	out := eval.NewVector(types.Double, groups)
	for g := range c.m {
		if c.m[g].n == 0 {
			setNull(out, int32(g))
			continue
		}
		out.Floats[g] = c.m[g].correlation()
	}
	return out, nil
}

// correlation returns the covariance divided by the root of both variances: NaN if a variance is 0.
func (m *moments) correlation() float64 {
	if m.bad {
		return math.NaN()
	}
	xy := m.spread(&m.xy, &m.x, &m.y, func(f *farMoments) *big.Rat { return &f.xy })
	xx := m.spreadX()
	yy := m.spread(&m.yy, &m.y, &m.y, func(f *farMoments) *big.Rat { return &f.yy })
	by := xx.Mul(xx, yy)
	if by.Sign() == 0 {
		return math.NaN()
	}
	square := new(big.Rat).Mul(xy, xy)
	r := root(square.Quo(square, by))
	if xy.Sign() < 0 {
		return -r
	}
	return r
}
