package flights

import (
	"math"

	"posta.dev/posta/rows/csv"
)

// A distance that is given travels as two integers, since nearly all are whole miles: two bytes per row where a float64 would
// take eight.
const (
	wholeMiles = iota // the distance; 0 if there is none
	bitsMiles         // the bits of the float64
)

// maxWhole is up to where every integer is a float64.
const maxWhole = 1 << 53

// parseMiles reads a distance: empty or a finite decimal number. What is not above 0 counts as none.
func parseMiles(p []byte) (value, form int64, ok bool) {
	if len(p) == 0 {
		return 0, wholeMiles, true
	}
	if d, ok := csv.ParseDecimal(p); ok {
		if v, ok := d.Units(0); ok && v <= maxWhole {
			return max(0, v), wholeMiles, true
		}
	}
	f, ok := csv.ParseFloat(p)
	if !(f > 0) {
		return 0, wholeMiles, ok
	}
	return int64(math.Float64bits(f)), bitsMiles, ok
}

// milesOf is the inverse of parseMiles: 0 if no distance is given. A forged frame may hold anything; what parseMiles does not
// make counts as none.
func milesOf(value, form int64) float64 {
	v := float64(value)
	if form == bitsMiles {
		v = math.Float64frombits(uint64(value))
	}
	if v > 0 && v <= math.MaxFloat64 {
		return v
	}
	return 0
}

// milesKey makes a key of a distance that is not negative; keys are in the order of distances. Adding 0 makes 0 of -0.
func milesKey(miles float64) int64 { return int64(math.Float64bits(miles + 0)) }

func milesOfKey(key int64) float64 { return math.Float64frombits(uint64(key)) }
