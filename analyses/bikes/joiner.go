package bikes

import (
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

type joiner struct {
	cfg    settings
	cities map[string]*city
	count  *counters

	// Buffers of one call of Facts, kept to reuse their memory.
	start, end           lookup
	dates, years         []int64
	startCodes, endCodes []uint32
	hops                 []hop
	km                   []float64
}

func newJoiner(args analyses.Args, _ analyses.Replica) (analyses.Joiner, error) {
	cfg, err := readSettings(args)
	if err != nil {
		return nil, err
	}
	return &joiner{cfg: cfg, cities: map[string]*city{}, count: newCounters()}, nil
}

func (j *joiner) city(file analyses.File) (*city, error) {
	name, err := cityOf(file)
	if err != nil {
		return nil, err
	}
	c := j.cities[name]
	if c == nil {
		c = newCity(name, name == j.cfg.city)
		j.cities[name] = c
	}
	return c, nil
}

// Reference takes weather or stations.
func (j *joiner) Reference(stream int, b *batch.Batch, pos analyses.Position) error {
	c, err := j.city(pos.File)
	if err != nil {
		return err
	}
	switch stream {
	case weather:
		c.addWeather(b, pos)
	case stations:
		c.addStations(b, pos)
	default:
		return fmt.Errorf("bikes: stream %d is not a reference stream", stream)
	}
	return nil
}

// Facts counts trips.
func (j *joiner) Facts(stream int, b *batch.Batch, pos analyses.Position) error {
	c, err := j.city(pos.File)
	if err != nil {
		return err
	}
	if stream != trips {
		return fmt.Errorf("bikes: stream %d is not a fact stream", stream)
	}
	if b.Rows() == 0 {
		return nil
	}
	if c.stale {
		c.build(&j.cfg, j.count)
	}
	j.rides(c, b)
	j.journeys(c, b)
	return nil
}

// rides adds the trips of rainy days. These are few, and only their durations are read.
func (j *joiner) rides(c *city, b *batch.Batch) {
	if c.rain.Len() == 0 {
		return
	}
	j.dates = b.Ints(tripDate).AppendTo(j.dates[:0])
	values, scales := b.Ints(tripDuration), b.Ints(tripScale)
	for row, date := range j.dates {
		if id := c.rain.Find(date); id >= 0 {
			addDuration(j.count.ride(id), values.At(row), scales.At(row))
		}
	}
}

// journeys counts trips by station, and adds distances in the city of query far.
func (j *joiner) journeys(c *city, b *batch.Batch) {
	starts, ends := b.Dicts(tripStart), b.Dicts(tripEnd)
	j.years = b.Ints(tripYear).AppendTo(j.years[:0])
	j.startCodes, j.endCodes = starts.AppendCodes(j.startCodes[:0]), j.endCodes[:0]
	j.start.numbers(c, starts)
	if c.located {
		j.endCodes = ends.AppendCodes(j.endCodes)
		j.end.numbers(c, ends)
	}
	y := yearsOf(b.Ints(tripYear), j.years)
	if !y.fits(max(starts.Len(), ends.Len()), b.Rows()) {
		j.journeysOneByOne(c)
		return
	}
	j.start.fill(c, y)
	j.departures(y)
	if c.located {
		j.end.fill(c, y)
		j.arrivals(y)
	}
}

func (j *joiner) departures(y years) {
	k, stops, codes := j.count, j.start.stops, j.startCodes
	for row, year := range j.years {
		k.depart(stops[int64(codes[row])*y.span+year-y.low].count)
	}
}

func (k *counters) depart(slot int32) {
	n := &k.counts[slot]
	if *n == 0 {
		k.touchedCounts = append(k.touchedCounts, slot)
	}
	*n++
}

// arrivals looks up all stops of the batch, then all distances, then adds them up. Distances are spread over megabytes, and a
// loop that only loads them has many loads in flight at once.
func (j *joiner) arrivals(y years) {
	j.hops = j.hops[:0]
	for row, year := range j.years {
		at := year - y.low
		to := &j.end.stops[int64(j.endCodes[row])*y.span+at]
		from := &j.start.stops[int64(j.startCodes[row])*y.span+at]
		if from.point != noPoint && to.point != noPoint {
			j.hops = append(j.hops, hop{from.point, to.point, to.name})
		}
	}
	j.km = j.count.distances(j.km[:0], j.hops)
	for i, h := range j.hops {
		j.count.arrive(h.name, j.km[i])
	}
}

// hop is a trip between stations that have coordinates.
type hop struct{ from, to, name int32 }

// journeysOneByOne handles batches whose codes and years would make lookups too large.
func (j *joiner) journeysOneByOne(c *city) {
	for row, year := range j.years {
		from := c.find(j.start.codes[j.startCodes[row]], year)
		j.count.depart(from.count)
		if c.located {
			to := c.find(j.end.codes[j.endCodes[row]], year)
			if from.point != noPoint && to.point != noPoint {
				j.count.arrive(to.name, j.count.distance(from.point, to.point))
			}
		}
	}
}

// Fork implements analyses.Forker. A fork shares the maps of the reference rows and makes its own dense form of them, with its
// own numbers. Its counters and its known distances are indexed by these numbers.
func (j *joiner) Fork(int) (analyses.Joiner, error) {
	f := &joiner{cfg: j.cfg, cities: map[string]*city{}, count: newCounters()}
	for name, c := range j.cities {
		f.cities[name] = c.fork()
	}
	return f, nil
}

// End has nothing to do: trips are counted as they come, and the position of a reference row decides whether it wins its key.
func (j *joiner) End(int) error { return nil }

// Flush adds what was counted to the tables.
func (j *joiner) Flush(tables []*fold.Table) error {
	j.count.flushRain(tables[rain])
	j.count.flushDoubled(tables[doubled], j.cfg.yearBefore == j.cfg.yearAfter)
	j.count.flushFar(tables[far])
	return nil
}
