package gen

import (
	"fmt"
	"math/rand/v2"
)

// Flights makes the data of analysis flights with rows itineraries, malformed ones included: about 370 bytes each.
//
// Quirks. Airports: semicolons, a byte order mark, CRLF, unused columns and one whose name and values contain commas, repeated
// airports, rows with missing or wrong values or broken quotes, names with semicolons, quotes and line ends inside quotes,
// UTF-8. Itineraries: legs that are repeated with other fares, durations and even routes; journeys that end at another airport
// of the city than the last segment; unknown airports; journeys from an airport to itself; distances that are missing, zero,
// negative or have fractions; detours to a near destination; durations of days, of hours, of minutes alone; fares of zero and
// below; identical rows; quoted fields; no newline at the end; and every kind of malformed row, once in five hundred rows.
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
