package gen

import (
	"fmt"
	"math/rand/v2"
)

// Bikes makes the data of analysis bikes with rows trips, malformed ones included: about 62 bytes per trip.
//
// Quirks. Files: different columns, a byte order mark, CRLF, no newline at the end, columns in another order, unused columns.
// Weather: days with gaps, repeated days, rows that do not parse. Stations: per year, repeated codes, names as in oddNames,
// names that several stations share, coordinates that are empty, half empty or wrong. Trips: durations with fractions and
// below zero, quoted fields, unknown stations and days, and every kind of malformed row, once in five hundred rows.
func Bikes(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate bikes: %w", errRows)
	}
	cal := newCalendar(2010, 2019)
	left := rows
	all := towns()
	for i := range all {
		t := &all[i]
		n := rows * t.share / 100
		if i == len(all)-1 {
			n = left
		}
		left -= n
		if err := makeTown(dir, t, cal, n, rand.New(rand.NewPCG(seed, uint64(i)))); err != nil {
			return err
		}
	}
	return nil
}

func makeTown(dir Dir, t *town, cal *calendar, rows int, r *rand.Rand) error {
	stops := makeStops(t, r)
	return writeFiles(dir,
		file{t.name + "/weather.csv", func(flush flusher) []byte { return appendWeather(flush, t, cal, r) }},
		file{t.name + "/stations.csv", func(flush flusher) []byte { return appendStations(flush, t, stops, r) }},
		file{t.name + "/trips.csv", func(flush flusher) []byte { return newTripWriter(t, cal, stops, r).fill(flush, rows) }})
}
