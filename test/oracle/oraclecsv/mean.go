package oraclecsv

import "math/big"

// Mean is the exact sum of some float64 values, and their number. The zero Mean is empty.
type Mean struct {
	sum *big.Float
	N   int64
}

// Add adds a value.
func (m *Mean) Add(v float64) {
	if m.sum == nil {
		m.sum = new(big.Float).SetPrec(2200) // holds any sum of float64 exactly
	}
	m.sum.Add(m.sum, new(big.Float).SetFloat64(v))
	m.N++
}

// Value returns the mean, rounded once.
func (m *Mean) Value() float64 {
	r, _ := m.sum.Rat(nil)
	f, _ := r.Quo(r, new(big.Rat).SetInt64(m.N)).Float64()
	return f
}

// Total returns the sum, rounded once.
func (m *Mean) Total() float64 {
	f, _ := m.sum.Float64()
	return f
}
