package bikes

import (
	"cmp"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/internal/idtable"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/progress"
)

// city holds what the reference streams say about a city. Reference rows go into maps; build then makes the dense form, in
// which facts are looked up (see lookup.go).
type city struct {
	name     string
	days     map[int64]day
	codes    map[string]int32 // station code → number
	stations map[stationKey]station

	stale   bool // reference rows have arrived since build
	rain    idtable.Table
	first   []int32       // by code: its first index in byCode; the last item is len(byCode)
	byCode  []yearStation // by code, then year
	located bool          // build makes points, because the city is the one of query far

	done progress.Rows // marks progress: the reference data may be large, and does not go through tables, which mark their own rows (N9)
}

type day struct {
	mm float64
	at rowPosition
}

type stationKey struct {
	code int32
	year int64
}

type station struct {
	name     string
	lat, lon float64
	located  bool
	at       rowPosition
}

func newCity(name string, located bool) *city {
	return &city{
		name: name, located: located, stale: true,
		days: map[int64]day{}, codes: map[string]int32{}, stations: map[stationKey]station{},
	}
}

// fork returns the city without its dense form.
func (c *city) fork() *city {
	return &city{name: c.name, located: c.located, stale: true, days: c.days, codes: c.codes, stations: c.stations}
}

func (c *city) addWeather(b *batch.Batch, pos analyses.Position) {
	dates, mm := b.Ints(weatherDate), b.Floats(weatherRain)
	for row := range b.Rows() {
		c.done.Row()
		d := day{mm.At(row), positionOf(pos, row)}
		if old, ok := c.days[dates.At(row)]; !ok || old.at.before(d.at) {
			c.days[dates.At(row)] = d
		}
	}
	c.stale = true
}

func (c *city) addStations(b *batch.Batch, pos analyses.Position) {
	codes, names, years := b.Texts(stationCode), b.Texts(stationName), b.Ints(stationYear)
	lat, lon, located := b.Floats(stationLatitude), b.Floats(stationLongitude), b.Ints(stationLocated)
	for row := range b.Rows() {
		c.done.Row()
		key := stationKey{c.code(codes.At(row)), years.At(row)}
		at := positionOf(pos, row)
		if old, ok := c.stations[key]; ok && !old.at.before(at) {
			continue
		}
		c.stations[key] = station{string(names.At(row)), lat.At(row), lon.At(row), located.At(row) != 0, at}
	}
	c.stale = true
}

// code returns the number of a station code. A new code gets a new number.
func (c *city) code(text []byte) int32 {
	n, ok := c.codes[string(text)]
	if !ok {
		n = int32(len(c.codes))
		c.codes[string(text)] = n
	}
	return n
}

// build makes the dense form.
func (c *city) build(cfg *settings, k *counters) {
	c.rain = idtable.New()
	for date, d := range c.days {
		if d.mm > cfg.rainMM {
			c.rain.Put(date, k.rainDay(date))
		}
	}
	keys := make([]stationKey, 0, len(c.stations))
	for key := range c.stations {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b stationKey) int {
		c.done.Row()
		return a.compare(b)
	})
	c.locate(keys, k)
	c.first, c.byCode = make([]int32, len(c.codes)+1), make([]yearStation, 0, len(keys))
	for _, key := range keys {
		c.done.Row()
		c.first[key.code+1]++
		c.byCode = append(c.byCode, c.yearStation(key, cfg, k))
	}
	for i := 1; i < len(c.first); i++ {
		c.first[i] += c.first[i-1]
	}
	c.stale = false
}

func (k stationKey) compare(o stationKey) int {
	switch {
	case k.code != o.code:
		return int(k.code) - int(o.code)
	case k.year < o.year:
		return -1
	case k.year > o.year:
		return 1
	}
	return 0
}

func (c *city) yearStation(key stationKey, cfg *settings, k *counters) yearStation {
	s := c.stations[key]
	name := k.station(c.name, s.name)
	y := yearStation{year: key.year, stop: stop{name: name, point: noPoint}}
	switch key.year { // a year that is both counts as the year before; Flush adds its trips to both
	case cfg.yearBefore:
		y.count = 2 * name
	case cfg.yearAfter:
		y.count = 2*name + 1
	}
	if c.located && s.located {
		y.point = k.points.of(s.lat, s.lon)
	}
	return y
}

// locate numbers the points of the stations, year by year. Both stations of a trip are of the same year, so the distances
// that its trips need are close together in the table.
func (c *city) locate(keys []stationKey, k *counters) {
	if !c.located {
		return
	}
	byYear := slices.Clone(keys)
	slices.SortStableFunc(byYear, func(a, b stationKey) int {
		c.done.Row()
		return cmp.Compare(a.year, b.year)
	})
	for _, key := range byYear {
		c.done.Row()
		if s := c.stations[key]; s.located {
			k.points.of(s.lat, s.lon)
		}
	}
	k.pairs.grow(len(k.points.all))
}
