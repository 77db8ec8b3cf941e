package flights

import (
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

type joiner struct {
	cfg      settings
	airports airportIndex
	journeys journeys
	pending  pending

	// Buffers of one call of Facts, kept to reuse their memory.
	table      []int32
	journey    []int32
	codes      []uint32
	stops      []int64
	cents      []int64
	miles, how []int64
}

func newJoiner(args analyses.Args, _ analyses.Replica) (analyses.Joiner, error) {
	cfg, err := readSettings(args)
	if err != nil {
		return nil, err
	}
	return &joiner{cfg: cfg, airports: airportIndex{}, journeys: newJourneys()}, nil
}

// Reference takes airports.
func (j *joiner) Reference(stream int, b *batch.Batch, pos analyses.Position) error {
	if stream != airports {
		return fmt.Errorf("flights: stream %d is not a reference stream", stream)
	}
	j.airports.add(b, pos)
	clear(j.journeys.number) // journeys with facts keep their numbers; the next look-up gives a pair a new number with the new distance
	return nil
}

// Facts takes itineraries.
func (j *joiner) Facts(stream int, b *batch.Batch, _ analyses.Position) error {
	if stream != itineraries {
		return fmt.Errorf("flights: stream %d is not a fact stream", stream)
	}
	j.journey = j.journeys.pairs(j.journey[:0], &j.table, b.Dicts(rowStart), b.Dicts(rowDestination), j.airports, j.cfg.detourFactor)
	j.cents = b.Ints(rowCents).AppendTo(j.cents[:0])
	for row, cents := range j.cents {
		if cents > 0 {
			j.pending.fares = append(j.pending.fares, fare{j.journey[row], cents})
		}
	}
	j.stopovers(b)
	j.detours(b)
	return nil
}

// stopovers looks for rows with many stopovers. Most batches of the real data have a few, many have none.
func (j *joiner) stopovers(b *batch.Batch) {
	arrivals := b.Dicts(rowArrivals)
	j.stops = j.stops[:0]
	most := int64(-1)
	for i := range arrivals.Len() {
		n, _ := countStopovers(arrivals.Entry(i))
		j.stops = append(j.stops, n)
		most = max(most, n)
	}
	if most < j.cfg.minStopovers {
		return
	}
	j.codes = arrivals.AppendCodes(j.codes[:0])
	for row, code := range j.codes {
		if n := j.stops[code]; n >= j.cfg.minStopovers {
			f := &j.pending
			f.stopovers = append(f.stopovers, stopover{
				leg: f.copy(b.Texts(rowLeg).At(row)), route: f.route(b, row),
				journey: j.journey[row], cents: j.cents[row], minutes: b.Ints(rowMinutes).At(row), stopovers: n,
			})
		}
	}
}

// detours compares distances. Only rows without a distance need the sum along the route: one in fourteen.
func (j *joiner) detours(b *batch.Batch) {
	j.miles = b.Ints(rowMiles).AppendTo(j.miles[:0])
	j.how = b.Ints(rowMilesForm).AppendTo(j.how[:0])
	limits := j.journeys.limit
	for row, n := range j.journey {
		total, limit := milesOf(j.miles[row], j.how[row]), limits[n]
		if total == 0 && limit == limit { // limit is not NaN
			var known bool
			if total, known = j.airports.routeMiles(b.Dicts(rowStart).At(row), b.Dicts(rowArrivals).At(row)); !known {
				continue
			}
		}
		if total > limit {
			f := &j.pending
			f.detours = append(f.detours, detour{f.copy(b.Texts(rowLeg).At(row)), f.route(b, row), total, j.journeys.direct[n]})
		}
	}
}

// Fork implements analyses.Forker. Forks share the airports.
func (j *joiner) Fork(int) (analyses.Joiner, error) {
	return &joiner{cfg: j.cfg, airports: j.airports, journeys: newJourneys()}, nil
}

// End has nothing to do: itineraries are taken as they come.
func (j *joiner) End(int) error { return nil }

// Flush adds what was found to the tables.
func (j *joiner) Flush(tables []*fold.Table) error {
	j.pending.flush(tables, j.journeys.names)
	if len(j.journeys.names) > maxJourneys {
		j.journeys = newJourneys()
	}
	return nil
}
