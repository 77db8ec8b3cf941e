package memes

import (
	"math"

	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/exact"
)

// Flags of a comment. Without any it counts nowhere.
const (
	hasSentiment  = 1 << iota // a number of units …
	fineSentiment             // … or, with this flag too, the bits of a float64
	aboutStudents
)

// A sentiment is a decimal number, and nearly all have up to four digits after the point. Those are kept in units of 1/10,000:
// they take two bytes where a float64 takes eight, and are summed as integers. A finer or larger number, or one with an
// exponent, is the float64 nearest to it.
const (
	unitDigits = 4
	perOne     = 10_000
	maxUnits   = 200_000 * perOne // sums of them do not overflow before 2^32 rows
)

// parseSentiment reads a finite decimal number or nothing.
func parseSentiment(p []byte) (value, flags int64, ok bool) {
	if len(p) == 0 {
		return 0, 0, true
	}
	if d, ok := csv.ParseDecimal(p); ok {
		if v, ok := d.Units(unitDigits); ok && -maxUnits <= v && v <= maxUnits {
			return v, hasSentiment, true
		}
	}
	f, ok := csv.ParseFloat(p)
	return int64(math.Float64bits(f)), hasSentiment | fineSentiment, ok
}

// roughMean is the mean of n sentiments whose sum is units. It is up to three roundings off.
func roughMean(units, n int64) float64 { return float64(units) / (perOne * float64(n)) }

// exactMean returns the mean of n sentiments, rounded once. units is the sum of those in units, fine the sum of the others, nil if
// there are none.
func exactMean(units int64, fine *exact.Sum, n int64) float64 {
	var sum exact.Sum
	sum.AddInt(units)
	if fine != nil {
		addTimes(&sum, fine, perOne)
	}
	return sum.Mean(perOne * n)
}

// addTimes adds n × s to sum. Sums can only add, so it doubles s once for each bit of n.
func addTimes(sum, s *exact.Sum, n int64) {
	var double exact.Sum
	for double.AddSum(s); n > 0; n >>= 1 {
		if n&1 == 1 {
			sum.AddSum(&double)
		}
		double.AddSum(&double)
	}
}
