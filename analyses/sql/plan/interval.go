package plan

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Interval is a length of time. Its parts are not converted into each other, because a month has no fixed number of days.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// unit has the length of each unit.
var unit = map[string]Interval{
	"microsecond": {Micros: 1}, "us": {Micros: 1}, "millisecond": {Micros: 1000}, "ms": {Micros: 1000},
	"second": {Micros: 1e6}, "sec": {Micros: 1e6},
	"s": {Micros: 1e6}, "minute": {Micros: 60e6}, "min": {Micros: 60e6}, "m": {Micros: 60e6},
	"hour": {Micros: 3600e6}, "h": {Micros: 3600e6}, "day": {Days: 1}, "d": {Days: 1}, "week": {Days: 7}, "w": {Days: 7}, "month": {Months: 1},
	"mon": {Months: 1}, "quarter": {Months: 3}, "year": {Months: 12}, "y": {Months: 12},
	"decade": {Months: 120}, "century": {Months: 1200}, "centurie": {Months: 1200}, "millennium": {Months: 12000},
	"millennia": {Months: 12000},
}

// ParseInterval reads '1 day 2 hours' and '1 day 03:04:05'. It takes whole numbers only; a time of day may have a fraction.
func ParseInterval(s string) (total Interval, ok bool) {
	words := strings.Fields(strings.ToLower(s))
	for i := 0; i < len(words); i++ {
		if strings.Contains(words[i], ":") {
			c, err := time.Parse("15:04:05.999999", words[i])
			if err != nil {
				return Interval{}, false
			}
			total.Micros += int64(c.Hour())*3600e6 + int64(c.Minute())*60e6 + int64(c.Second())*1e6 + int64(c.Nanosecond())/1000
			continue
		}
		n, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil || i+1 >= len(words) {
			return Interval{}, false
		}
		i++
		u, known := unit[strings.TrimSuffix(words[i], "s")]
		if !known {
			u, known = unit[words[i]]
		}
		if !known || !addTo(&total, u, n) {
			return Interval{}, false
		}
	}
	return total, len(words) > 0
}

// addTo adds n units to a length of time, and says whether the sum is in range.
func addTo(t *Interval, u Interval, n int64) bool {
	const most = math.MaxInt32
	if n > most*1000 || n < -most*1000 {
		return false
	}
	months, days := int64(t.Months)+n*int64(u.Months), int64(t.Days)+n*int64(u.Days)
	if months > most || months < -most || days > most || days < -most || u.Micros != 0 &&
		(n > math.MaxInt64/2/u.Micros || n < -math.MaxInt64/2/u.Micros) {
		return false
	}
	t.Months, t.Days = int32(months), int32(days)
	t.Micros += n * u.Micros
	return t.Micros < math.MaxInt64/2 && t.Micros > -math.MaxInt64/2
}
