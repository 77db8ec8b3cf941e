package values

import (
	"math"

	"posta.dev/posta/analyses/sql/plan"
)

// Positive maps equal DOUBLEs to the same bits: -0 to 0, and every NaN to one.
func Positive(f float64) float64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.NaN()
	}
	return f
}

// MicrosPerDay is a day of a TIMESTAMP or an INTERVAL.
const MicrosPerDay = 24 * 60 * 60 * 1_000_000

// normal returns an interval with 0 to 29 days and less than a day of microseconds, because intervals are compared as if every month had 30
// days.
func normal(i plan.Interval) (months, days, micros int64) {
	days, micros = FloorDiv(i.Micros, MicrosPerDay)
	days += int64(i.Days)
	months, days = FloorDiv(days, 30)
	return months + int64(i.Months), days, micros
}

// FloorDiv returns the quotient, rounded down, and the rest, which has the sign of b.
func FloorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}
