package flights

import (
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
)

const (
	earthRadiusKm = 6371.0088
	kmPerMile     = 1.609344
)

// airport is where an airport is, with what the haversine formula needs of one end.
type airport struct {
	lat, lon, cosLat float64 // in radians
	at               uint64  // its row, see addAirports
}

// gazetteer finds airports by code.
type gazetteer map[string]airport

// add takes a batch of airports. Which of two rows is the later one is decided by their place in the file, so that the order
// in which batches arrive, and arrive again after a crash, does not matter. Line of the batch plus row in it is such a place:
// each row takes a line at least, so the next batch begins beyond all of these.
func (g gazetteer) add(b *batch.Batch, pos analyses.Position) {
	codes, lat, lon := b.Texts(airportCode), b.Floats(airportLatitude), b.Floats(airportLongitude)
	for row := range b.Rows() {
		at := pos.Line + uint64(row)
		if old, ok := g[string(codes.At(row))]; ok && old.at > at {
			continue
		}
		x, y := lat.At(row)*math.Pi/180, lon.At(row)*math.Pi/180
		g[string(codes.At(row))] = airport{x, y, math.Cos(x), at}
	}
}

// miles is the great-circle distance by the haversine formula. The conversions keep the compiler from fusing products and sums
// where the processor could: all hosts of a session must compute the same bits (D1).
func miles(a, b *airport) float64 {
	lat, lon := math.Sin((b.lat-a.lat)/2), math.Sin((b.lon-a.lon)/2)
	h := float64(lat*lat) + float64(float64(a.cosLat*b.cosLat)*float64(lon*lon))
	return 2 * earthRadiusKm * math.Asin(min(1, math.Sqrt(h))) / kmPerMile
}

// along returns the length of a route, false if one of its airports is unknown.
func (g gazetteer) along(start, arrivals []byte) (total float64, ok bool) {
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
