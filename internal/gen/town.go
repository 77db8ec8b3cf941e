package gen

import (
	"math"
	"math/rand/v2"
	"strconv"
)

const (
	firstYear = 2014
	lastYear  = 2017
	yearCount = lastYear - firstYear + 1
)

// town is a city and the form of its files.
type town struct {
	name     string
	share    int // of 100 trips
	stations int
	codes    int // the first code
	lat, lon float64
	located  int  // how many of 100 stations have coordinates
	seconds  bool // times have seconds; otherwise they are full minutes
	weather  int  // columns of weather.csv
	wYear    int  // its first year
	shape    shape
}

// shape is how a file of trips is written.
type shape struct {
	bom, crlf, reordered bool
	noLastNewline        bool
}

func towns() []town {
	return []town{
		{name: "montreal", share: 40, stations: 460, codes: 6001, lat: 45.52, lon: -73.58, located: 97, weather: 21, wYear: 2014,
			shape: shape{noLastNewline: true}},
		{name: "toronto", share: 20, stations: 200, codes: 0, lat: 43.65, lon: -79.38, located: 0, weather: 20, wYear: 2014,
			shape: shape{bom: true, reordered: true}},
		{name: "washington", share: 40, stations: 360, codes: 0, lat: 38.9, lon: -77.03, located: 3, seconds: true, weather: 20, wYear: 2012,
			shape: shape{crlf: true}},
	}
}

// stop is a station.
type stop struct {
	code     []byte
	name     []byte // as it stands in a CSV
	lat, lon float64
	located  bool
	opened   int // year
	grows    bool
}

// popularity has the stations of each year, each as often as it is used, so that a random index draws one.
type popularity [yearCount][]uint16

const popularityBits = 13

func makeStops(t *town, r *rand.Rand) []stop {
	stops := make([]stop, t.stations)
	for i := range stops {
		s := &stops[i]
		s.code = strconv.AppendInt(nil, int64(t.codes+i), 10)
		s.name = stationName(r, i)
		spread := 0.03 // about 3 km
		if i%23 == 7 { // a suburb
			spread = 0.16
		}
		angle := r.Float64() * 2 * math.Pi
		s.lat = t.lat + spread*math.Sin(angle)*(0.5+r.Float64()/2)
		s.lon = t.lon + spread*math.Cos(angle)*(0.5+r.Float64()/2)
		s.located = r.IntN(100) < t.located
		s.opened = firstYear
		if r.IntN(6) == 0 {
			s.opened += r.IntN(yearCount)
		}
		s.grows = i%19 == 3
	}
	return stops
}

// makePopularity weighs stations by a falling curve, because few are used much. Growing stations have five times the trips in
// the last year.
func makePopularity(stops []stop) *popularity {
	p := new(popularity)
	for y := range p {
		weights, sum := make([]float64, len(stops)), 0.0
		for i, s := range stops {
			if s.opened > firstYear+y {
				continue
			}
			w := 1 + 30/float64(1+i*7919%len(stops))
			if s.grows && y == yearCount-1 {
				w *= 5
			}
			weights[i] = w
			sum += w
		}
		p[y] = spread(weights, sum)
	}
	return p
}

func spread(weights []float64, sum float64) []uint16 {
	const slots = 1 << popularityBits
	out := make([]uint16, 0, slots)
	at := 0.0
	for i, w := range weights {
		at += w
		for float64(len(out)) < at/sum*slots && len(out) < slots {
			out = append(out, uint16(i))
		}
	}
	for len(out) < slots {
		out = append(out, out[len(out)-1])
	}
	return out
}
