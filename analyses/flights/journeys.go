package flights

import (
	"math"

	"posta.dev/posta/rows/batch"
)

// airportPair holds the airports of a journey. They cannot be read from the journey's text, because an airport's code may
// contain dashes.
type airportPair struct{ start, destination string }

// journeys numbers the pairs of airports that occur in rows, and has for each pair the distance above which a route is a
// detour.
type journeys struct {
	number map[airportPair]int32
	names  []string
	direct []float64 // miles; NaN if an airport is unknown
	limit  []float64 // direct times the factor; a total above it is a detour. NaN: no total is above it
}

// maxJourneys bounds how many pairs are kept from one flush to the next: every pair of 256 airports. It bounds the memory for
// any file.
const maxJourneys = 1 << 16

func newJourneys() journeys { return journeys{number: map[airportPair]int32{}} }

// of returns the number of a journey.
func (j *journeys) of(start, destination []byte, g airportIndex, factor float64) int32 {
	if n, ok := j.number[airportPair{string(start), string(destination)}]; ok {
		return n
	}
	n := int32(len(j.names))
	e := airportPair{string(start), string(destination)}
	j.number[e] = n
	j.names = append(j.names, e.start+"-"+e.destination)
	direct := math.NaN()
	a, known := g[e.start]
	if b, ok := g[e.destination]; ok && known {
		direct = miles(&a, &b)
	}
	j.direct = append(j.direct, direct)
	j.limit = append(j.limit, factor*direct)
	return n
}

// pairs appends the journey of each row of a batch. Each pair of dictionary entries is looked up once, if a table of all pairs
// is not much larger than the batch.
func (j *journeys) pairs(dst []int32, table *[]int32, starts, destinations batch.Dicts, g airportIndex, factor float64) []int32 {
	rows, width := starts.Rows(), destinations.Len()
	if starts.Len()*width > 16*rows+4096 {
		for row := range rows {
			dst = append(dst, j.of(starts.At(row), destinations.At(row), g, factor))
		}
		return dst
	}
	known := (*table)[:0]
	for range starts.Len() * width {
		known = append(known, -1)
	}
	for row := range rows {
		s, d := int(starts.Code(row)), int(destinations.Code(row))
		n := &known[s*width+d]
		if *n < 0 {
			*n = j.of(starts.Entry(s), destinations.Entry(d), g, factor)
		}
		dst = append(dst, *n)
	}
	*table = known
	return dst
}
