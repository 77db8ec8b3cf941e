package bikes

import (
	"math"

	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/exact"
)

// A duration travels as two integers. Nearly all durations are whole seconds, and few have more than some digits after the
// point, so the columns are narrow where a float64 would take eight bytes per row.
//
//	scale 0         value seconds
//	scale 1 … 18    value / 10^scale, rounded to the nearest float64
//	scale bitsScale value is the bits of the float64
//
// The value of a duration is the float64 nearest to the text. If a float64 holds both integers exactly, their quotient is that
// float64, because division rounds correctly. Everything larger travels as bits.
const (
	bitsScale = -1
	maxWhole  = 1 << 53 // all integers up to here are float64 values
)

var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// duration reads a finite decimal number.
func duration(p []byte) (value, scale int64, ok bool) {
	if d, ok := csv.ParseDecimal(p); ok {
		if value, scale, ok = decimalDuration(d); ok {
			return value, scale, true
		}
	}
	f, ok := csv.ParseFloat(p)
	if ok && f == math.Trunc(f) && math.Abs(f) <= maxWhole {
		return int64(f), 0, true
	}
	return int64(math.Float64bits(f)), bitsScale, ok
}

// decimalDuration returns whole seconds if d is that, else d as it is; false if a float64 does not hold its value exactly.
func decimalDuration(d csv.Decimal) (value, scale int64, ok bool) {
	if d.Value < -maxWhole || d.Value > maxWhole {
		return 0, 0, false
	}
	if v, ok := d.Units(0); ok {
		return v, 0, true
	}
	return d.Value, int64(d.Scale), true
}

// addDuration adds a duration to sum; a negative one counts as 0. A scale that duration never makes comes from a forged
// frame. addDuration then treats the value as bits, and must not panic.
func addDuration(sum *exact.Sum, value, scale int64) {
	switch {
	case scale == 0:
		sum.AddInt(max(0, value))
	case scale > 0 && scale < int64(len(powers)):
		sum.Add(max(0, float64(value)/powers[scale]))
	default:
		sum.Add(max(0, math.Float64frombits(uint64(value))))
	}
}
