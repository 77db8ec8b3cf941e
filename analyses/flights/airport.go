package flights

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/internal/geo"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/progress"
)

const kmPerMile = 1.609344

// airport is the position of an airport.
type airport struct {
	geo.Point
	at uint64 // its row, see add
}

// airportIndex finds airports by code.
type airportIndex map[string]airport

// add takes a batch of airports. The places of two rows in the file decide which is the later one, so the order in which
// batches arrive, or arrive again after a crash, does not matter. A row's place is the batch's line plus the row's index in
// the batch: each row takes at least one line, so the places of the next batch are larger.
func (g airportIndex) add(b *batch.Batch, pos analyses.Position) {
	codes, lat, lon := b.Texts(airportCode), b.Floats(airportLatitude), b.Floats(airportLongitude)
	var done progress.Rows // marks progress: unlike a table, a map does not count rows (N9)
	for row := range b.Rows() {
		done.Row()
		at := pos.Line + uint64(row)
		if old, ok := g[string(codes.At(row))]; ok && old.at > at {
			continue
		}
		g[string(codes.At(row))] = airport{geo.At(lat.At(row), lon.At(row)), at}
	}
}

// miles is the great-circle distance.
func miles(a, b *airport) float64 { return geo.Km(&a.Point, &b.Point) / kmPerMile }

// routeMiles returns the length of a route, false if one of its airports is unknown.
func (g airportIndex) routeMiles(start, arrivals []byte) (total float64, ok bool) {
	from, ok := g[string(start)]
	for ok && len(arrivals) > 0 {
		var code []byte
		code, arrivals = cutAirport(arrivals)
		to, known := g[string(code)]
		total += miles(&from, &to)
		from, ok = to, known
	}
	return total, ok
}
