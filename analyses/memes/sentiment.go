package memes

import (
	"math"

	"posta/csv"
)

// Flags of a comment. Without any it counts nowhere.
const (
	hasSentiment  = 1 << iota // a number of ten-thousandths …
	bitsSentiment             // … or, with this flag too, the bits of a float64
	aboutStudents
)

// A sentiment travels as ten-thousandths, which is how many digits there are in nearly all: two bytes where a float64 takes
// eight. The quotient of two integers that a float64 holds exactly is the float64 nearest to the text, as division rounds
// correctly; everything finer or larger goes as bits.
const (
	digits   = 4
	unit     = 1e4
	maxUnits = 1 << 53
)

// parseSentiment reads a finite decimal number or nothing.
func parseSentiment(p []byte) (value, flags int64, ok bool) {
	if len(p) == 0 {
		return 0, 0, true
	}
	if d, ok := csv.ParseDecimal(p); ok {
		if v, ok := d.Units(digits); ok && -maxUnits <= v && v <= maxUnits {
			return v, hasSentiment, true
		}
	}
	f, ok := csv.ParseFloat(p)
	return int64(math.Float64bits(f)), hasSentiment | bitsSentiment, ok
}

// sentimentOf is the inverse of parseSentiment, for flags with hasSentiment.
func sentimentOf(value, flags int64) float64 {
	if flags&bitsSentiment != 0 {
		return math.Float64frombits(uint64(value))
	}
	return float64(value) / unit
}
