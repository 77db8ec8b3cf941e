package csv

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Numbers of up to eight bytes, which are nearly all, are parsed as one word: the text is shifted to the word's end, zeros
// are filled in before it, a point is removed, one test shows whether only digits remain, and three products add them up. A
// loop over the bytes is as fast for numbers of one length, but the processor mispredicts its end if lengths vary.

// ParseInt reads an integer with an optional sign. It accepts exactly what strconv.ParseInt does with base 10 and 64 bits.
func ParseInt(p []byte) (v int64, ok bool) {
	if n := len(p); 0 < n && n <= 8 {
		if w := load(p); !moreThanDigits(w) {
			return int64(sum8(w)), true
		}
	}
	return parseInt(p)
}

func parseInt(p []byte) (v int64, ok bool) {
	p, negative := sign(p)
	if len(p) == 0 {
		return 0, false
	}
	u := uint64(0)
	for _, c := range p {
		c -= '0'
		if c > 9 || u > (math.MaxUint64-9)/10 {
			return 0, false
		}
		u = u*10 + uint64(c)
	}
	switch {
	case negative && u <= 1<<63:
		return -int64(u), true
	case !negative && u < 1<<63:
		return int64(u), true
	}
	return 0, false
}

// Decimal is the number Value / 10^Scale, exactly.
type Decimal struct {
	Value int64
	Scale int // 0 … 18: digits after the point, as written
}

// ParseDecimal reads a decimal number: a sign, digits, a point, digits. There must be a digit; everything else may be
// missing. It returns false also for a number with an exponent or more than 18 digits. A caller that can use such a number
// continues with [ParseFloat], which reads all of them.
func ParseDecimal(p []byte) (d Decimal, ok bool) {
	if n := len(p); 0 < n && n <= 8 {
		if d, ok := ShortDecimal(p); ok {
			return d, true
		}
	}
	d, _, ok = parseDecimal(p)
	return d, ok
}

// ShortDecimal is [ParseDecimal] for unsigned numbers of 1 to 8 bytes. It panics on no bytes, and ignores those before the last eight.
func ShortDecimal(p []byte) (d Decimal, ok bool) {
	w := load(p)
	// The lowest byte that is a point, if any. The bits of bytes above it may be wrong; moreThanDigits then finds these.
	x := w ^ point*ones
	if m := (x - ones) &^ x & highs; m != 0 {
		low := m ^ (m - 1) // up to the highest bit of the point
		before := low >> 8 // the bytes before the point
		d.Scale = bits.LeadingZeros64(low) / 8
		w = w&^low | w&before<<8
		ok = len(p) > 1
	} else {
		ok = true
	}
	if !ok || moreThanDigits(w) {
		return Decimal{}, false
	}
	d.Value = int64(sum8(w))
	return d, true
}

func parseDecimal(p []byte) (d Decimal, negative, ok bool) {
	p, negative = sign(p)
	digits, pointAt := 0, -1
	for i, c := range p {
		if c == '.' && pointAt < 0 {
			pointAt = i
			continue
		}
		c -= '0'
		if digits++; c > 9 || digits > 18 {
			return Decimal{}, false, false
		}
		d.Value = d.Value*10 + int64(c)
	}
	if pointAt >= 0 {
		d.Scale = len(p) - 1 - pointAt
	}
	if negative {
		d.Value = -d.Value
	}
	return d, negative, digits > 0
}

// Units returns the number in units of 10^-scale: 0 gives whole numbers, 2 cents. It returns false if the result is not exact
// or too large.
func (d Decimal) Units(scale int) (v int64, ok bool) {
	v = d.Value
	for s := d.Scale; s > scale; s-- {
		if v%10 != 0 {
			return 0, false
		}
		v /= 10
	}
	for s := d.Scale; s < scale; s++ {
		if v > math.MaxInt64/10 || v < math.MinInt64/10 {
			return 0, false
		}
		v *= 10
	}
	return v, true
}

// exactPowers are the powers of ten that a float64 holds exactly.
var exactPowers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// Float returns the number rounded correctly, halves to even. Zero is +0.
func (d Decimal) Float() float64 {
	const exact = 1 << 53
	if -exact <= d.Value && d.Value <= exact && uint(d.Scale) < uint(len(exactPowers)) {
		// Both are exact, so the quotient is rounded once (Clinger 1990).
		return float64(d.Value) / exactPowers[d.Scale]
	}
	text := strconv.AppendInt(nil, d.Value, 10)
	text = strconv.AppendInt(append(text, 'e'), int64(-d.Scale), 10)
	f, _ := strconv.ParseFloat(string(text), 64) // neither syntax nor range can fail
	return f
}

// ParseFloat reads a finite decimal number, with or without an exponent, and rounds it correctly: it returns the same bits as
// strconv.ParseFloat. It refuses "NaN", infinities, hexadecimal numbers, and numbers that are too large for a float64,
// because in a CSV they are not values (D1).
func ParseFloat(p []byte) (f float64, ok bool) {
	if n := len(p); 0 < n && n <= 8 {
		digits := p
		if p[0] == '-' && n > 1 {
			digits = p[1:]
		}
		if d, ok := ShortDecimal(digits); ok {
			f := float64(d.Value) / exactPowers[d.Scale] // both are exact, as in Decimal.Float
			if len(digits) < n {
				f = -f // also -0
			}
			return f, true
		}
	}
	if d, negative, ok := parseDecimal(p); ok {
		if d.Value == 0 && negative {
			return math.Copysign(0, -1), true
		}
		return d.Float(), true
	}
	for _, c := range p {
		switch {
		case c >= '0' && c <= '9', c == '.', c == '+', c == '-', c == 'e', c == 'E':
		default:
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(string(p), 64)
	return f, err == nil
}

func sign(p []byte) (rest []byte, negative bool) {
	if len(p) > 0 && (p[0] == '-' || p[0] == '+') {
		return p[1:], p[0] == '-'
	}
	return p, false
}

const (
	zeros = '0' * ones
	point = '.' ^ '0' // a point, after '0' was subtracted from every byte
)

// load returns the 1 to 8 bytes of p at the high end of a word, the first byte lowest, less '0' each, as if there were '0's
// before them. Shifts are masked with 63, which they never exceed, so the compiler need not handle larger ones.
func load(p []byte) uint64 {
	n := len(p)
	unused := uint(64-8*n) & 63
	var w uint64
	switch {
	case n >= 8:
		w = binary.LittleEndian.Uint64(p)
	case n >= 4:
		// Two loads that overlap: the second has the last bytes in place, and those of the first are shifted so that equal
		// bytes overlap.
		w = uint64(binary.LittleEndian.Uint32(p))<<unused | uint64(binary.LittleEndian.Uint32(p[n-4:]))<<32
	case n == 1:
		w = uint64(p[0]) << 56
	default:
		w = uint64(p[0])<<unused | uint64(p[n-2])<<48 | uint64(p[n-1])<<56
	}
	return w ^ zeros<<unused
}

// moreThanDigits reports whether a byte of w is not 0 … 9.
func moreThanDigits(w uint64) bool { return (w+0x76*ones|w)&highs != 0 }

// sum8 adds up eight digits, the highest in the lowest byte: first pairs, then pairs of pairs, then both halves.
func sum8(w uint64) uint64 {
	w = w*10 + w>>8
	const pairs = 0x000000ff000000ff
	return ((w&pairs)*(1000000<<32+100) + (w>>16&pairs)*(10000<<32+1)) >> 32
}
