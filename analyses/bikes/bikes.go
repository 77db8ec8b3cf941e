package bikes

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// Streams, columns of their batches, and tables, by index.
const (
	weather = iota
	stations
	trips
)

const (
	weatherDate = iota
	weatherRain
)

const (
	stationCode = iota
	stationName
	stationLatitude
	stationLongitude
	stationLocated // 1 if it has coordinates
	stationYear
)

const (
	tripDate = iota
	tripStart
	tripEnd
	tripDuration
	tripScale // see duration.go
	tripYear
)

const (
	rain = iota
	doubled
	far
)

// New returns the analysis.
func New() *analyses.Analysis {
	return &analyses.Analysis{
		Name:      "bikes",
		About:     "bike rides: rainy days, stations that doubled their trips, stations ridden to from afar",
		Params:    params(),
		Streams:   streams(),
		Tables:    tables(),
		Queries:   queries(),
		NewParser: newParser,
		Faster:    analyses.Faster{NewRunParser: newRunParser, ReferenceLater: true},
		NewJoiner: newJoiner,
		Reduce:    reduce,
	}
}

func streams() []analyses.Stream {
	return []analyses.Stream{
		{
			Name: "weather", Reference: true, Files: "*/weather.csv",
			Columns: analyses.Columns("date", "prectot"),
			Schema:  []batch.FieldSpec{{Name: "date", Kind: batch.Int}, {Name: "prectot", Kind: batch.Float}},
		},
		{
			Name: "stations", Reference: true, Files: "*/stations.csv",
			Columns: analyses.Columns("code", "name", "latitude", "longitude", "yearid"),
			Schema: []batch.FieldSpec{
				{Name: "code", Kind: batch.Text}, {Name: "name", Kind: batch.Text},
				{Name: "latitude", Kind: batch.Float}, {Name: "longitude", Kind: batch.Float}, {Name: "located", Kind: batch.Int},
				{Name: "year", Kind: batch.Int},
			},
		},
		{
			Name: "trips", Files: "*/trips.csv",
			Columns: analyses.Columns("start_date", "start_station_code", "end_station_code", "duration_sec", "yearid"),
			Schema: []batch.FieldSpec{
				{Name: "date", Kind: batch.Int}, {Name: "start", Kind: batch.Dict}, {Name: "end", Kind: batch.Dict},
				{Name: "duration", Kind: batch.Int}, {Name: "scale", Kind: batch.Int}, {Name: "year", Kind: batch.Int},
			},
		},
	}
}

func tables() []fold.Spec {
	return []fold.Spec{
		{
			Name: "rain", Stream: "trips",
			Keys: []fold.Key{{Name: "date", Kind: fold.KeyInt}},
			Aggs: []fold.Agg{{Name: "seconds", Kind: fold.Exact}, {Name: "trips", Kind: fold.Sum}},
		},
		{
			Name: "doubled", Stream: "trips",
			Keys: []fold.Key{{Name: "city", Kind: fold.KeyText}, {Name: "station", Kind: fold.KeyText}},
			Aggs: []fold.Agg{{Name: "before", Kind: fold.Sum}, {Name: "after", Kind: fold.Sum}},
		},
		{
			Name: "far", Stream: "trips",
			Keys: []fold.Key{{Name: "station", Kind: fold.KeyText}},
			Aggs: []fold.Agg{{Name: "km", Kind: fold.Exact}, {Name: "trips", Kind: fold.Sum}},
		},
	}
}

func queries() []analyses.Query {
	return []analyses.Query{
		{Name: "rain", Columns: []string{"date", "average_duration_sec", "trips"}, Tables: []string{"rain"}},
		{Name: "doubled", Columns: []string{"city", "station", "trips_2016", "trips_2017"}, Tables: []string{"doubled"}},
		{Name: "far", Columns: []string{"station", "average_km", "trips"}, Tables: []string{"far"}},
	}
}
