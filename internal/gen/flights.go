package gen

import (
	"fmt"
	"math/rand/v2"
)

// Flights makes the data of analysis flights with so many itineraries, malformed ones included: about 370 bytes each.
//
// Quirks. Airports: semicolons, a byte order mark, CRLF, columns that nobody needs and one whose name and values hold commas,
// airports that are there twice, rows that lack something, have something wrong or broken quotes, names with semicolons,
// quotes and line ends inside quotes, UTF-8. Itineraries: legs that are there several times, with other fares, durations and
// even routes; journeys that end at another airport of the city than the last segment; airports that nobody lists; journeys
// from an airport to itself; distances that are missing, zero, negative or have fractions; ways round a near destination;
// durations of days, of hours, of minutes alone; fares of zero and below; the same row twice; quoted fields; no newline at the
// end; and every way for a row to be malformed, once in five hundred rows.
func Flights(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate flights: %w", errRows)
	}
	r := rand.New(rand.NewPCG(seed, 101))
	ports := makePorts(r)
	return writeFiles(dir,
		file{"airports-codepublic.csv", func(flush flusher) []byte { return appendPorts(flush, ports, r) }},
		file{"itineraries.csv", func(flush flusher) []byte { return newFareWriter(ports, seed, r).fill(flush, rows) }})
}
