package aggregate

import (
	"math"
	"math/big"

	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

// products is the exact sum of products of two DOUBLEs. Such a product is the exact sum of two DOUBLEs, the rounded product and the
// rounding error, unless one of these overflows or underflows. So the factors of very large and very small products are scaled by a power
// of two, and their products are added up separately.
type products struct {
	near exact.Sum
	far  *farProducts // nil if there are none
}

// farProducts are the sums of large products times 1/farScale², and of small ones times farScale².
type farProducts struct{ large, small exact.Sum }

const (
	largeProduct = 0x1p1000 // from here on products are large
	smallProduct = 0x1p-960 // up to here they are small
	farScale     = 0x1p600

	productsBytes = 40 // of an exact.Sum and a pointer
	farBytes      = 2 * wideBytes
)

// productsCells are the cells in which products travel: those that are near, large, and small.
var productsCells = []fold.Agg{{Kind: fold.Exact}, {Kind: fold.Exact}, {Kind: fold.Exact}}

// add adds a·b, which are finite. It returns how many more bytes are kept.
func (p *products) add(a, b float64) (bytes int64) {
	size := math.Abs(a * b)
	if size < largeProduct && size > smallProduct || a == 0 || b == 0 {
		p.near.AddProduct(a, b)
		return 0
	}
	if p.far == nil {
		p.far, bytes = &farProducts{}, farBytes
	}
	if size >= largeProduct {
		p.far.large.AddProduct(a/farScale, b/farScale)
	} else {
		p.far.small.AddProduct(a*farScale, b*farScale)
	}
	return bytes
}

// rat returns the sum.
func (p *products) rat() *big.Rat {
	all := rat(&p.near)
	if p.far != nil {
		scale := new(big.Rat).SetFloat64(farScale)
		scale.Mul(scale, scale)
		all.Add(all, new(big.Rat).Mul(rat(&p.far.large), scale))
		all.Add(all, new(big.Rat).Quo(rat(&p.far.small), scale))
	}
	return all
}

func (p *products) encode(t *fold.Table, row, cell int) {
	t.AddExact(row, cell, &p.near)
	if p.far != nil {
		t.AddExact(row, cell+1, &p.far.large)
		t.AddExact(row, cell+2, &p.far.small)
	}
}

func (p *products) decode(t *fold.Table, row, cell int) {
	p.near.AddSum(t.Exact(row, cell))
	if large, small := t.Exact(row, cell+1), t.Exact(row, cell+2); !large.Empty() || !small.Empty() {
		p.far = &farProducts{}
		p.far.large.AddSum(large)
		p.far.small.AddSum(small)
	}
}
