package aggregate

import (
	"math"
	"math/big"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
)

var corr = Aggregate{
	Function: types.Function{Name: "corr", Forms: []string{"DOUBLE, DOUBLE -> DOUBLE"}, Nulls: types.Skips,
		About: "The correlation of two columns."},
	New: func(Call) State { return &correlations{} },
}

// correlations keeps exact sums of values, of their squares and of their products.
type correlations struct {
	alone
	m []moments
}

type moments struct {
	n                int64
	x, y, xx, yy, xy exact.Sum
	far              *farMoments // sums over the values whose squares package exact cannot hold
	bad              bool        // a value was infinite or NaN
}

// farMoments holds sums of products that are out of the range of package exact.
type farMoments struct{ xx, yy, xy big.Rat }

const (
	momentsBytes    = 5*32 + 32
	farMomentsBytes = 2000
)

// near reports whether products of v are exact sums of two DOUBLEs.
func near(v float64) bool {
	a := math.Abs(v)
	return a == 0 || a < largeValue && a > smallValue
}

func (m *moments) add(x, y float64) (bytes int64) {
	m.n++
	if math.IsNaN(x-x) || math.IsNaN(y-y) {
		m.bad = true
		return 0
	}
	m.x.Add(x)
	m.y.Add(y)
	if near(x) && near(y) {
		m.xx.AddProduct(x, x)
		m.yy.AddProduct(y, y)
		m.xy.AddProduct(x, y)
		return 0
	}
	if m.far == nil {
		m.far = &farMoments{}
		bytes = farMomentsBytes
	}
	rx, ry := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y)
	m.far.xx.Add(&m.far.xx, new(big.Rat).Mul(rx, rx))
	m.far.yy.Add(&m.far.yy, new(big.Rat).Mul(ry, ry))
	m.far.xy.Add(&m.far.xy, new(big.Rat).Mul(rx, ry))
	return bytes
}

// spread returns n·Σab − Σa·Σb, which is n² times the population covariance. far is the part of Σab that ab lacks.
func (m *moments) spread(ab, a, b *exact.Sum, far *big.Rat) *big.Rat {
	s := rat(ab)
	s.Add(s, far)
	s.Mul(s, new(big.Rat).SetInt64(m.n))
	return s.Sub(s, new(big.Rat).Mul(rat(a), rat(b)))
}

// correlation returns the covariance divided by the root of both variances: NaN if a variance is 0.
func (m *moments) correlation() float64 {
	if m.bad {
		return math.NaN()
	}
	far := m.far
	if far == nil {
		far = &farMoments{}
	}
	xy := m.spread(&m.xy, &m.x, &m.y, &far.xy)
	xx := m.spread(&m.xx, &m.x, &m.x, &far.xx)
	yy := m.spread(&m.yy, &m.y, &m.y, &far.yy)
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

func (c *correlations) Grow(groups int) int64 { return momentsBytes * longer(&c.m, groups) }

func (c *correlations) Add(r *Rows) (bytes int64, _ error) {
	x, y := r.Args[0], r.Args[1]
	for k, i := range r.Sel {
		if !x.IsNull(i) && !y.IsNull(i) {
			bytes += c.m[r.Groups[k]].add(x.Floats[i], y.Floats[i])
		}
	}
	return bytes, nil
}

func (c *correlations) Value(g int32, out *eval.Vector, row int32) error {
	if c.m[g].n == 0 {
		out.SetNull(row)
		return nil
	}
	out.Floats[row] = c.m[g].correlation()
	return nil
}
