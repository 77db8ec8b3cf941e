package gen

import (
	"math/rand/v2"
	"strconv"
)

var weatherColumns = []string{
	"date", "prectot", "qv2m", "rh2m", "ps", "t2m_range", "ts", "t2mdew", "t2mwet", "t2m_max", "t2m_min", "t2m", "ws50m_range",
	"ws10m_range", "ws50m_min", "ws10m_min", "ws50m_max", "ws10m_max", "ws50m", "ws10m", "yearid",
}

func appendWeather(flush flusher, t *town, cal *calendar, r *rand.Rand) []byte {
	var b []byte
	for i, c := range weatherColumns[:t.weather] {
		b = append(appendComma(b, i), c...)
	}
	b = append(b, '\n')
	for day := cal.start(t.wYear); day < cal.start(lastYear+1); day++ {
		switch {
		case day%211 == 3: // no measurement
			continue
		case day%307 == 5:
			b = appendBadWeather(b, t, cal, day, r)
		case day%101 == 7: // an older version of the next row
			b = appendDay(b, t, cal, day, r)
		}
		b = flush(appendDay(b, t, cal, day, r))
	}
	return b
}

func appendDay(b []byte, t *town, cal *calendar, day int, r *rand.Rand) []byte {
	b = append(append(b, cal.day(day)...), ',')
	b = appendHundredths(b, precipitation(r))
	return appendRest(b, t, cal, day, r)
}

// precipitation returns hundredths of a mm: most often little, more than 30 mm on about one day in 40, and sometimes exactly
// 30 mm.
func precipitation(r *rand.Rand) int {
	switch n := r.IntN(400); {
	case n < 10:
		return 3001 + r.IntN(4000)
	case n == 10:
		return 3000
	case n < 200:
		return r.IntN(100)
	}
	return r.IntN(2500)
}

func appendRest(b []byte, t *town, cal *calendar, day int, r *rand.Rand) []byte {
	for i := 2; i < t.weather; i++ {
		b = append(b, ',')
		if i == 20 {
			b = append(b, cal.year(day)...)
			continue
		}
		b = appendHundredths(b, r.IntN(4000)-1000)
	}
	return append(b, '\n')
}

func appendBadWeather(b []byte, t *town, cal *calendar, day int, r *rand.Rand) []byte {
	switch r.IntN(4) {
	case 0:
		return append(append(b, cal.day(day)...), '\n') // the row is short
	case 1:
		b = append(append(b, cal.day(day)...), ',')
	case 2:
		b = append(append(b, cal.day(day)...), ",n/a"...)
	default:
		b = append(append(b, cal.year(day)...), "-02-30,1.5"...)
	}
	return appendRest(b, t, cal, day, r)
}

func appendHundredths(b []byte, n int) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = append(strconv.AppendInt(b, int64(n/100), 10), '.')
	if n%10 == 0 {
		return append(b, '0'+byte(n/10%10))
	}
	return append(b, '0'+byte(n/10%10), '0'+byte(n%10))
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}
