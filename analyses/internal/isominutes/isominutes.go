// Package isominutes reads durations of ISO 8601 as minutes.
package isominutes

// maxDigits bounds each number of a duration, so that no sum of minutes overflows.
const maxDigits = 9

// units are the parts of a duration in their order. Years, months and weeks do not occur in the data, and years and months
// have no fixed length. Seconds do not fit into a column of minutes.
var units = [...]struct {
	letter  byte
	time    bool // after the T
	minutes int64
}{{'D', false, 24 * 60}, {'H', true, 60}, {'M', true, 1}}

// Parse reads an ISO 8601 duration as minutes: days, hours and minutes, in this order, each at most once and at least one of
// them: PT2H29M, P1DT6H58M, P1DT9M, P2D.
func Parse(p []byte) (minutes int64, ok bool) {
	if len(p) < 3 || p[0] != 'P' {
		return 0, false
	}
	time, next := false, 0
	for at := 1; at < len(p); {
		if p[at] == 'T' {
			if time || at+1 == len(p) {
				return 0, false
			}
			time = true
			at++
		}
		v, digits := int64(0), at
		for ; at < len(p) && p[at]-'0' <= 9; at++ {
			if at-digits == maxDigits {
				return 0, false
			}
			v = 10*v + int64(p[at]-'0')
		}
		if at == digits || at == len(p) {
			return 0, false
		}
		for next < len(units) && (units[next].letter != p[at] || units[next].time != time) {
			next++
		}
		if next == len(units) {
			return 0, false
		}
		minutes += v * units[next].minutes
		next++
		at++
	}
	return minutes, true
}
