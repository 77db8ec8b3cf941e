package bikes

import (
	"sort"

	"posta.dev/posta/rows/batch"
)

// stop is what a trip needs to know about the station where it starts or ends. The zero value with point noPoint stands for
// no station.
type stop struct {
	name  int32
	count int32 // index in counters.counts; 0 if the year is not compared
	point int32 // number in counters.points; noPoint without coordinates, or if the city is not the one of query far
}

var noStop = stop{point: noPoint}

type yearStation struct {
	year int64
	stop
}

// find returns the stop for a code and a year. code is the number of a station code, or -1.
func (c *city) find(code int32, year int64) stop {
	if code < 0 {
		return noStop
	}
	of := c.byCode[c.first[code]:c.first[code+1]]
	i := sort.Search(len(of), func(i int) bool { return of[i].year >= year })
	if i == len(of) || of[i].year != year {
		return noStop
	}
	return of[i].stop
}

// lookup has the stop of each code of one column of a batch, in each year: stops[code·span + year - low]. It is made once per
// batch: the dictionary has hundreds of entries, the batch tens of thousands of rows.
type lookup struct {
	codes []int32 // number of each dictionary entry in the city, -1 if it has no such station
	stops []stop
}

// years is the range of years in a batch.
type years struct{ low, span int64 }

func yearsOf(column batch.Ints, values []int64) years {
	if v, ok := column.Const(); ok {
		return years{v, 1}
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	// A span that overflows is negative; as an unsigned number it is too large for fits.
	return years{low, high - low + 1}
}

// fits reports whether lookups are small enough to be worth making. A forged batch of many codes and distant years would need
// memory for their product.
func (y years) fits(entries, rows int) bool {
	limit := int64(16*rows + 4096)
	return y.span > 0 && y.span <= limit && int64(entries)*y.span <= limit
}

// numbers resolves the dictionary to the city's codes.
func (l *lookup) numbers(c *city, d batch.Dicts) {
	l.codes = l.codes[:0]
	for i := range d.Len() {
		n, ok := c.codes[string(d.Entry(i))]
		if !ok {
			n = -1
		}
		l.codes = append(l.codes, n)
	}
}

// fill makes stops for a range of years that fits.
func (l *lookup) fill(c *city, y years) {
	l.stops = l.stops[:0]
	for _, code := range l.codes {
		at := len(l.stops)
		for range y.span {
			l.stops = append(l.stops, noStop)
		}
		if code < 0 {
			continue
		}
		for _, s := range c.byCode[c.first[code]:c.first[code+1]] {
			// Unsigned, because the distance of two years may overflow an int64. A year below low gives a number that is too
			// large.
			if n := uint64(s.year) - uint64(y.low); n < uint64(y.span) {
				l.stops[at+int(n)] = s.stop
			}
		}
	}
}
