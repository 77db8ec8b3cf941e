package main

import "math/big"

// Sums of floats are exact, as Posta's are (design D1). DuckDB's sum of doubles rounds at each step, in the random order of
// its threads. So a double is split into two whole numbers of 128 bits, and these are summed:
//
//	whole(x) = ⌊x · 2^20⌋                            exact up to 2^107
//	part(x)  = (x · 2^20 - whole(x)) · 2^100         exact but for what is below 2^-120
//
// Only the mean rounds, in Go, once. DuckDB would round the sum to a double before it divides.
const exactMacros = `
CREATE TEMP MACRO whole(x) AS trunc(x * 1048576)::HUGEINT;
CREATE TEMP MACRO part(x) AS ((x * 1048576 - trunc(x * 1048576)) * 1267650600228229401496703205376)::HUGEINT;
`

// sum holds the sums of whole and part.
type sum struct{ whole, part *big.Int }

func (s sum) rat() *big.Rat {
	n := new(big.Int).Lsh(s.whole, 100)
	return new(big.Rat).SetFrac(n.Add(n, s.part), new(big.Int).Lsh(big.NewInt(1), 120))
}

// value returns the nearest float64.
func (s sum) value() float64 {
	f, _ := s.rat().Float64()
	return f
}

// mean returns the float64 nearest to the sum divided by n.
func (s sum) mean(n int64) float64 {
	r := s.rat()
	f, _ := r.Quo(r, new(big.Rat).SetInt64(n)).Float64()
	return f
}
