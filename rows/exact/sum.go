package exact

import (
	"math"
	"math/bits"
)

const (
	nearPoint = 128 // bits of near after the binary point
	// A float64 is m·2^e with m < 2^53. It is added to near if near has a place for its lowest bit, and room above its
	// highest.
	nearMinExp = -nearPoint
	nearMaxExp = 9
	expBias    = 1075 // bias of e in a stored float64
)

// Sum is an exact sum. The zero value is the sum of nothing, ready for use. After copying a Sum, only one of the copies may
// be added to, because they may share memory.
type Sum struct {
	near [3]uint64 // two's complement, lowest word first, in units of 2^-128
	wide *wide     // nil until needed
}

// Reset makes s the sum of nothing.
func (s *Sum) Reset() { *s = Sum{} }

// Empty reports whether nothing was added but zeros; a sum of large or small numbers that cancel out is not empty.
func (s *Sum) Empty() bool { return s.near == [3]uint64{} && s.wide == nil }

// AddInt adds v.
func (s *Sum) AddInt(v int64) {
	top := int64(s.near[2])
	r := top + v
	if (top^r)&(v^r) < 0 {
		s.spill()
		r = v
	}
	s.near[2] = uint64(r)
}

// Add adds v. A NaN or an infinity makes the sum NaN for good.
func (s *Sum) Add(v float64) {
	b := math.Float64bits(v)
	e := int(b>>52&0x7ff) - expBias
	if e < nearMinExp || e > nearMaxExp {
		s.addFar(b)
		return
	}
	m := b&(1<<52-1) | 1<<52
	shift := uint(e - nearMinExp)
	lo, hi := m<<(shift&63), m>>(64-shift&63)
	if shift&63 == 0 {
		hi = 0
	}
	var t [3]uint64
	switch shift >> 6 {
	case 0:
		t[0], t[1] = lo, hi
	case 1:
		t[1], t[2] = lo, hi
	default:
		t[2] = lo // hi is 0: e <= nearMaxExp
	}
	if int64(b) < 0 {
		negate(&t)
	}
	s.addNear(&t)
}

// AddProduct adds a·b exactly, as the rounded product and the rounding error. Both of these must be normal numbers, or 0.
func (s *Sum) AddProduct(a, b float64) {
	p := a * b
	s.Add(p)
	s.Add(math.FMA(a, b, -p))
}

// AddSum adds o, which does not change.
func (s *Sum) AddSum(o *Sum) {
	near := o.near // a copy, because s and o may be the same
	if o.wide != nil {
		s.widen().add(o.wide)
	}
	s.addNear(&near)
}

// addNear adds a number in the form of near. If the sum does not fit 192 bits, the present value moves to wide first.
func (s *Sum) addNear(t *[3]uint64) {
	r0, c := bits.Add64(s.near[0], t[0], 0)
	r1, c := bits.Add64(s.near[1], t[1], c)
	r2, _ := bits.Add64(s.near[2], t[2], c)
	if int64((s.near[2]^r2)&(t[2]^r2)) < 0 {
		s.spill()
		s.near = *t
		return
	}
	s.near = [3]uint64{r0, r1, r2}
}

func negate(t *[3]uint64) {
	var c uint64
	t[0], c = bits.Sub64(0, t[0], 0)
	t[1], c = bits.Sub64(0, t[1], c)
	t[2], _ = bits.Sub64(0, t[2], c)
}

// addFar adds a float64 that does not fit near: zero, a very small or very large number, NaN or an infinity.
func (s *Sum) addFar(b uint64) {
	switch biased := b >> 52 & 0x7ff; {
	case b<<1 == 0:
	case biased == 0x7ff:
		s.widen().nan = true
	case biased == 0: // subnormal: no hidden bit, and the exponent of the smallest normal numbers
		s.widen().addScaled(b&(1<<52-1), 0, int64(b) < 0)
	default:
		s.widen().addScaled(b&(1<<52-1)|1<<52, uint(biased)-1, int64(b) < 0)
	}
}

func (s *Sum) widen() *wide {
	if s.wide == nil {
		s.wide = new(wide)
	}
	return s.wide
}

// spill moves near to wide.
func (s *Sum) spill() {
	s.widen().addNear(&s.near)
	s.near = [3]uint64{}
}
