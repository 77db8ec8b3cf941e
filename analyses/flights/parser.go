package flights

import (
	"fmt"
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/internal/isominutes"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

func newParser(_ analyses.Args, stream int, _ analyses.File, b *batch.Builder) (func([][]byte) error, error) {
	switch stream {
	case airports:
		return parseAirports(b), nil
	case itineraries:
		return parseItineraries(b), nil
	}
	return nil, fmt.Errorf("flights has no stream %d", stream)
}

func parseAirports(b *batch.Builder) func([][]byte) error {
	code, lat, lon := b.Text(airportCode), b.Float(airportLatitude), b.Float(airportLongitude)
	return func(f [][]byte) error {
		if len(f[0]) == 0 {
			return analyses.BadField("Airport Code", nil, "")
		}
		x, ok := csv.ParseFloat(f[1])
		if !ok || math.Abs(x) > 90 {
			return analyses.BadField("Latitude", f[1], "a latitude")
		}
		y, ok := csv.ParseFloat(f[2])
		if !ok || math.Abs(y) > 360 {
			return analyses.BadField("Longitude", f[2], "a longitude")
		}
		code.Append(f[0])
		lat.Append(x)
		lon.Append(y)
		return nil
	}
}

func parseItineraries(b *batch.Builder) func([][]byte) error {
	leg, start, destination, arrivals := b.Text(rowLeg), b.Dict(rowStart), b.Dict(rowDestination), b.Dict(rowArrivals)
	minutes, cents, miles, form := b.Int(rowMinutes), b.Int(rowCents), b.Int(rowMiles), b.Int(rowMilesForm)
	return func(f [][]byte) error {
		switch {
		case len(f[0]) == 0:
			return analyses.BadField("legId", nil, "")
		case len(f[1]) == 0:
			return analyses.BadField("startingAirport", nil, "")
		case len(f[2]) == 0:
			return analyses.BadField("destinationAirport", nil, "")
		}
		duration, ok := isominutes.Parse(f[3])
		if !ok {
			return analyses.BadField("travelDuration", f[3], "a duration like PT2H29M or P1DT9M")
		}
		fare, ok := parseCents(f[4])
		if !ok {
			return analyses.BadField("totalFare", f[4], "an amount in whole cents")
		}
		distance, as, ok := parseMiles(f[5])
		if !ok {
			return analyses.BadField("totalTravelDistance", f[5], "a number")
		}
		if _, ok := countStopovers(f[6]); !ok {
			return analyses.BadField("segmentsArrivalAirportCode", f[6], "a list of airports joined by ||")
		}
		leg.Append(f[0])
		start.Append(f[1])
		destination.Append(f[2])
		arrivals.Append(f[6])
		minutes.Append(duration)
		cents.Append(fare)
		miles.Append(distance)
		form.Append(as)
		return nil
	}
}

func parseCents(p []byte) (cents int64, ok bool) {
	d, ok := csv.ParseDecimal(p)
	if !ok {
		return 0, false
	}
	return d.Units(2)
}
