package flights

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// Streams, columns of their batches, and tables, by index. Queries have the numbers of their tables.
const (
	airports = iota
	itineraries
)

const (
	airportCode = iota
	airportLatitude
	airportLongitude
)

const (
	rowLeg = iota
	rowStart
	rowDestination
	rowArrivals // as in the CSV
	rowMinutes
	rowCents
	rowMiles
	rowMilesForm // see miles.go
)

const (
	stopovers = iota
	detours
	fastest
	fares
)

// New returns the analysis.
func New() *analyses.Analysis {
	return &analyses.Analysis{
		Name:      "flights",
		About:     "fare searches: many stopovers, long ways round, fastest legs, fares above the mean",
		Params:    params(),
		Streams:   streams(),
		Tables:    tables(),
		Queries:   queries(),
		NewParser: newParser,
		Faster:    analyses.Faster{ReferenceLater: true, Prune: prune},
		NewJoiner: newJoiner,
		Reduce:    reduce,
	}
}

func streams() []analyses.Stream {
	return []analyses.Stream{
		{
			Name: "airports", Reference: true, Files: "airports-codepublic.csv", Comma: ';',
			Columns: analyses.Columns("Airport Code", "Latitude", "Longitude"),
			Schema: []batch.FieldSpec{
				{Name: "code", Kind: batch.Text}, {Name: "latitude", Kind: batch.Float}, {Name: "longitude", Kind: batch.Float},
			},
		},
		{
			Name: "itineraries", Files: "itineraries.csv",
			Columns: analyses.Columns("legId", "startingAirport", "destinationAirport", "travelDuration", "totalFare", "totalTravelDistance",
				"segmentsArrivalAirportCode"),
			Schema: []batch.FieldSpec{
				{Name: "leg", Kind: batch.Text}, {Name: "start", Kind: batch.Dict}, {Name: "destination", Kind: batch.Dict},
				{Name: "arrivals", Kind: batch.Dict}, {Name: "minutes", Kind: batch.Int}, {Name: "cents", Kind: batch.Int},
				{Name: "miles", Kind: batch.Int}, {Name: "miles_form", Kind: batch.Int},
			},
		},
	}
}

// tables returns the tables of a session. Their rows bound the memory of a session:
//
//	stopovers  the rows of the answer
//	detours    the rows of the answer
//	fastest    distinct legs per journey among the rows with many stopovers: less than one row in a hundred. Prune keeps the fastest
//	fares      distinct amounts per journey, whatever the number of rows: a histogram of cents. It gives the mean of all fares,
//	           known only at the end, and then the mean and the maximum of the fares above that. It is cut into ranges, because a
//	           cell travels as a whole
func tables() []fold.Spec {
	text := func(name string) fold.Key { return fold.Key{Name: name, Kind: fold.KeyText} }
	number := func(name string) fold.Key { return fold.Key{Name: name, Kind: fold.KeyInt} }
	return []fold.Spec{
		{
			Name: "stopovers", Stream: "itineraries", Merge: fold.Never,
			Keys: []fold.Key{text("leg"), text("route"), number("cents"), number("stopovers")},
		},
		{
			Name: "detours", Stream: "itineraries", Merge: fold.Never,
			Keys: []fold.Key{text("leg"), text("route"), number("total"), number("direct")}, // see milesKey
		},
		{
			Name: "fastest", Stream: "itineraries",
			Keys: []fold.Key{text("journey"), text("leg")},
			Aggs: []fold.Agg{{Name: "best", Kind: fold.MinText}}, // see appendBest
		},
		{
			Name: "fares", Stream: "itineraries",
			Keys: []fold.Key{text("journey"), number("range")},
			Aggs: []fold.Agg{{Name: "cents", Kind: fold.Counts}},
		},
	}
}

func queries() []analyses.Query {
	return []analyses.Query{
		{Name: "stopovers", Columns: []string{"leg_id", "route", "total_fare", "stopovers"}, Tables: []string{"stopovers"}, Rows: stopoverRows},
		{Name: "detours", Columns: []string{"leg_id", "route", "total_distance_mi", "direct_distance_mi"}, Tables: []string{"detours"},
			Rows: detourRows},
		{Name: "fastest", Columns: []string{"journey", "leg_id", "route", "stopovers", "duration_min"}, Tables: []string{"fastest"}},
		{Name: "fares", Columns: []string{"journey", "average_fare", "max_fare", "flights"}, Tables: []string{"fares"}},
	}
}
