package memes

import (
	"math"

	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/exact"
)

// Flags of a comment. A comment without any flag does not count.
const (
	hasSentiment  = 1 << iota // a number of units …
	fineSentiment             // … or, with this flag too, the bits of a float64
	aboutStudents
)

// A sentiment is a decimal number, and nearly all have at most four digits after the point. These are kept in units of
// 1/10,000: they take two bytes where a float64 takes eight, and are summed as integers. A number with more digits, a larger
// one, or one with an exponent is kept as the nearest float64.
const (
	unitDigits = 4
	perOne     = 10_000
	maxUnits   = 200_000 * perOne // sums of such numbers do not overflow before 2^32 rows
)

// parseSentiment reads a finite decimal number or an empty field.
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

// exactMean returns the mean of n sentiments, rounded once. units is the sum of the sentiments in units, fine the sum of the
// others, or nil if there are none.
func exactMean(units int64, fine *exact.Sum, n int64) float64 {
	const exactly = 1 << 53 // all integers up to here are float64 values, so their quotient is rounded once
	if fine == nil && -exactly <= units && units <= exactly && 0 < n && n <= exactly/perOne {
		return float64(units) / float64(perOne*n)
	}
	var sum exact.Sum
	sum.AddInt(units)
	if fine != nil {
		addTimes(&sum, fine, perOne)
	}
	return sum.Mean(perOne * n)
}

// addTimes adds n × s to sum. A Sum can only add, so addTimes doubles s once for each bit of n.
func addTimes(sum, s *exact.Sum, n int64) {
	var double exact.Sum
	for double.AddSum(s); n > 0; n >>= 1 {
		if n&1 == 1 {
			sum.AddSum(&double)
		}
		double.AddSum(&double)
	}
}
