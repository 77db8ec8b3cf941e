package aggregate

import (
	"math"
	"math/big"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

var corr = Aggregate{
	Function: types.Function{Name: "corr", Forms: []string{"DOUBLE, DOUBLE -> DOUBLE"}, Nulls: types.Skips,
		About: "The correlation of two columns."},
	New: func(Call) State { return &correlations{} },
}

// correlations keeps exact sums of values, of their squares and of their products.
type correlations struct{ m []moments }

type moments struct {
	n, odd     int64 // of odd ones, a value was infinite or NaN; the sums do not have them
	x, y       exact.Sum
	xx, yy, xy products
}

const momentsBytes = 2*8 + 2*32 + 3*productsBytes

// Its cells are n, odd, x, y, and the products.
var correlationCells = slices.Concat([]fold.Agg{{Kind: fold.Sum}, {Kind: fold.Sum}, {Kind: fold.Exact}, {Kind: fold.Exact}},
	productsCells, productsCells, productsCells)

func (m *moments) add(x, y float64) (bytes int64) {
	m.n++
	if x-x != 0 || y-y != 0 {
		m.odd++
		return 0
	}
	m.x.Add(x)
	m.y.Add(y)
	return m.xx.add(x, x) + m.yy.add(y, y) + m.xy.add(x, y)
}

// correlation returns the covariance divided by the root of both variances: NaN if a variance is 0.
func (m *moments) correlation() float64 {
	if m.odd > 0 {
		return math.NaN()
	}
	xy, xx, yy := spread(m.n, &m.xy, &m.x, &m.y), spread(m.n, &m.xx, &m.x, &m.x), spread(m.n, &m.yy, &m.y, &m.y)
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

func (c *correlations) Cells() []fold.Agg { return correlationCells }

func (c *correlations) Encode(t *fold.Table, cell int) {
	for row := range c.m {
		m := &c.m[row]
		if m.n == 0 {
			continue
		}
		t.AddSum(row, cell, m.n)
		t.AddSum(row, cell+1, m.odd)
		t.AddExact(row, cell+2, &m.x)
		t.AddExact(row, cell+3, &m.y)
		for i, p := range m.products() {
			p.encode(t, row, cell+4+len(productsCells)*i)
		}
	}
	clear(c.m) // releases the memory that a sum of very large or very small numbers holds
	c.m = c.m[:0]
}

func (c *correlations) Decode(t *fold.Table, cell, row int, g int32) error {
	m := &c.m[g]
	m.n, m.odd = t.Sum(row, cell), t.Sum(row, cell+1)
	m.x.AddSum(t.Exact(row, cell+2))
	m.y.AddSum(t.Exact(row, cell+3))
	for i, p := range m.products() {
		p.decode(t, row, cell+4+len(productsCells)*i)
	}
	return nil
}

func (m *moments) products() [3]*products { return [3]*products{&m.xx, &m.yy, &m.xy} }
