package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Value returns the sum rounded to the nearest float64, ties to even. A sum beyond the largest float64 is an infinity.
func (s *Sum) Value() float64 {
	if s.wide == nil {
		near := s.near
		negative := int64(near[2]) < 0
		if negative {
			negate(&near)
		}
		return round(near[:], -nearPoint, negative)
	}
	words, negative := s.wideWords()
	if s.wide.nan {
		return math.NaN()
	}
	return round(words[:], wideExp, negative)
}

// Mean returns the exact sum divided by n, rounded once to the nearest float64, ties to even. The mean of nothing (n < 1)
// is NaN.
func (s *Sum) Mean(n int64) float64 {
	if n < 1 || s.isNaN() {
		return math.NaN()
	}
	m, e, negative := s.parts(nil)
	num, den := new(big.Int).SetBytes(m), big.NewInt(n)
	if negative {
		num.Neg(num)
	}
	if e >= 0 {
		num.Lsh(num, uint(e))
	} else {
		den.Lsh(den, uint(-e))
	}
	f, _ := new(big.Rat).SetFrac(num, den).Float64()
	return f
}

// isNaN reports whether a NaN or an infinity was added.
func (s *Sum) isNaN() bool { return s.wide != nil && s.wide.nan }

// wideWords returns the magnitude of near + wide and its sign.
func (s *Sum) wideWords() (words [wideWords]uint64, negative bool) {
	total := *s.wide
	total.addNear(&s.near)
	negative = int64(total.words[wideWords-1]) < 0
	if negative {
		negateWords(total.words[:])
	}
	return total.words, negative
}

// round returns ±words·2^exp (words: lowest first) as the nearest float64, ties to even.
func round(words []uint64, exp int, negative bool) float64 {
	top := len(words) - 1
	for top >= 0 && words[top] == 0 {
		top--
	}
	if top < 0 {
		return 0 // never -0: the sum of nothing and a sum that cancels are the same number
	}
	// m has the highest 64 bits, the first of them set. Of the lower bits, only matters whether one is set.
	lz := bits.LeadingZeros64(words[top])
	m := words[top] << lz
	rest := uint64(0)
	if top > 0 {
		m |= words[top-1] >> 1 >> (63 - lz)
		rest = words[top-1] << lz
	}
	for i := top - 2; i >= 0; i-- {
		rest |= words[i]
	}
	e := exp + 64*top - lz // value = m·2^e, and a bit more if rest
	f := math.Ldexp(float64(roundToEven(m, rest != 0)), e+dropBits)
	if negative {
		return -f
	}
	return f
}

// dropBits is how many of 64 bits a float64 cannot hold. Subnormal numbers hold fewer, but need no case of their own: the sum
// is a multiple of the smallest of them, so below 2^-1022 there is nothing to round.
const dropBits = 64 - 53

// roundToEven returns m without its lowest dropBits, rounded. sticky says that a lower bit was set.
func roundToEven(m uint64, sticky bool) uint64 {
	const half = 1 << (dropBits - 1)
	q, tail := m>>dropBits, m&(2*half-1)
	if tail > half || tail == half && (sticky || q&1 == 1) {
		q++
	}
	return q
}

// Rat returns the exact sum; false if a NaN or an infinity was added.
func (s *Sum) Rat() (*big.Rat, bool) {
	if s.isNaN() {
		return nil, false
	}
	m, e, negative := s.parts(nil)
	num := new(big.Int).SetBytes(m)
	if negative {
		num.Neg(num)
	}
	if e >= 0 {
		return new(big.Rat).SetInt(num.Lsh(num, uint(e))), true
	}
	return new(big.Rat).SetFrac(num, new(big.Int).Lsh(big.NewInt(1), uint(-e))), true
}
