package flights

import (
	"math"

	"posta.dev/posta/rows/csv"
)

// A given distance travels as two integers. Nearly all distances are whole miles, and then take two bytes per row where a
// float64 would take eight.
const (
	wholeMiles = iota // the distance; 0 if there is none
	bitsMiles         // the bits of the float64
)

// maxWhole is the largest number up to which a float64 holds every integer.
const maxWhole = 1 << 53

// parseMiles reads a distance: empty or a finite decimal number. A number that is not above 0 counts as no distance.
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

// milesOf is the inverse of parseMiles. It returns 0 if no distance is given, and also for values that parseMiles never makes,
// because a forged frame may hold anything.
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

// milesKey makes a key of a distance that is not negative. Keys have the order of the distances. Adding 0 turns -0 into 0.
func milesKey(miles float64) int64 { return int64(math.Float64bits(miles + 0)) }

func milesOfKey(key int64) float64 { return math.Float64frombits(uint64(key)) }
