package exact

import (
	"math"
	"math/bits"
)

// Small is an exact sum of numbers of usual amounts: two words in two's complement, the lower one first, in units of 2^-64. A Sum takes
// twice the time for a number. The zero value is the sum of nothing.
type Small struct{ low, high uint64 }

const (
	smallPoint = 64 // bits of a Small after the binary point
	smallTop   = 42 // numbers must be below 2^smallTop

	// MostSmall is how many numbers a Small may be the sum of. Their sum is below 2^62, so it cannot overflow.
	MostSmall = 1 << 20
)

// AddSmall adds the number values[rows[k]] to sums[into[k]], for each k up to the first number that is not 0 and has an amount of 2^42 or
// more, or a bit below 2^-64. It returns how many it has added. All numbers from 2^-12 on, which is 0.00024, have no such bit.
func AddSmall(sums []Small, into []int32, values []float64, rows []int32) int {
	into = into[:len(rows)]
	for k, row := range rows {
		b := math.Float64bits(values[row])
		// As in Sum.Add, but without a branch on the sign or on the place in the sum.
		shift := b>>52&0x7ff - (expBias - smallPoint)
		if shift > smallPoint+smallTop-53 {
			if b<<1 == 0 {
				continue
			}
			return k
		}
		m, sign := b&(1<<52-1)|1<<52, uint64(int64(b)>>63)
		s, c := &sums[into[k]], uint64(0)
		s.low, c = bits.Add64(s.low, m<<(shift&63)^sign, sign&1)
		s.high, _ = bits.Add64(s.high, m>>1>>(63-shift&63)^sign, c)
	}
	return len(rows)
}

// AddSmall adds o, which does not change.
func (s *Sum) AddSmall(o *Small) {
	t := [3]uint64{0, o.low, o.high}
	s.addNear(&t)
}
