package movies

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// Streams, columns of their batches, and tables and queries, by index.
const (
	movies = iota
	ratings
	credits
)

const (
	movieID = iota
	movieReleased
	movieBudget
	movieRatio   // revenue / budget if both are above 0, else 0
	movieFeeling // of the overview: -1, 0, 1; 0 also if budget or revenue is not above 0
	movieTitle
	movieGenres    // names, joined
	movieCountries // names, see pack.go
)

const (
	ratingMovie = iota
	ratingValue // the number as it is in the file; there are few distinct ones
)

const (
	creditMovie = iota
	creditCast  // see pack.go
)

const (
	coproductions = iota
	budgets
	rated
	actors
	sentiment
)

// New returns the analysis.
func New() *analyses.Analysis {
	return &analyses.Analysis{
		Name:      "movies",
		About:     "films: coproductions, budgets by country, the best and worst rated, actors, what sad and happy stories earn",
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
			Name: "movies", Reference: true, Files: "movies_metadata.csv",
			Columns: analyses.Columns("id", "release_date", "budget", "revenue", "title", "overview", "genres", "production_countries"),
			Schema: []batch.FieldSpec{
				{Name: "id", Kind: batch.Int}, {Name: "released", Kind: batch.Int}, {Name: "budget", Kind: batch.Float},
				{Name: "ratio", Kind: batch.Float}, {Name: "feeling", Kind: batch.Int}, {Name: "title", Kind: batch.Text},
				{Name: "genres", Kind: batch.Dict}, {Name: "countries", Kind: batch.Dict},
			},
		},
		{
			Name: "ratings", Files: "ratings.csv",
			Columns: analyses.Columns("movieId", "rating"),
			Schema:  []batch.FieldSpec{{Name: "movie", Kind: batch.Int}, {Name: "rating", Kind: batch.Dict}},
		},
		{
			Name: "credits", Files: "credits.csv",
			Columns: analyses.Columns("cast", "id"),
			Schema:  []batch.FieldSpec{{Name: "movie", Kind: batch.Int}, {Name: "cast", Kind: batch.Text}},
		},
	}
}

// tables returns the tables of a session. Their rows bound the memory of aggregators and reducer:
//
//	coproductions   a row per movie that both countries produced in the years asked for
//	budgets         a row per country
//	ratings         a row per movie of the country since the year asked for that was rated
//	actors          a row per person and movie of those movies
//	sentiment       two rows
func tables() []fold.Spec {
	return []fold.Spec{
		{
			Name: "coproductions", Stream: "movies",
			Keys: []fold.Key{{Name: "movie", Kind: fold.KeyInt}},
			Aggs: []fold.Agg{{Name: "title", Kind: fold.MinText}, {Name: "genres", Kind: fold.MinText}},
		},
		{
			Name: "budgets", Stream: "movies",
			Keys: []fold.Key{{Name: "country", Kind: fold.KeyText}},
			Aggs: []fold.Agg{{Name: "budget", Kind: fold.Exact}},
		},
		{
			Name: "ratings", Stream: "ratings",
			Keys: []fold.Key{{Name: "movie", Kind: fold.KeyInt}},
			Aggs: []fold.Agg{{Name: "title", Kind: fold.MinText}, {Name: "sum", Kind: fold.Exact}, {Name: "ratings", Kind: fold.Sum}},
		},
		{
			Name: "actors", Stream: "credits", Merge: fold.Late, // a person is hardly ever twice in the same cast
			Keys: []fold.Key{{Name: "person", Kind: fold.KeyInt}, {Name: "movie", Kind: fold.KeyInt}},
			Aggs: []fold.Agg{{Name: "name", Kind: fold.MinText}},
		},
		{
			Name: "sentiment", Stream: "movies",
			Keys: []fold.Key{{Name: "sentiment", Kind: fold.KeyText}},
			Aggs: []fold.Agg{{Name: "ratio", Kind: fold.Exact}, {Name: "movies", Kind: fold.Sum}},
		},
	}
}

func queries() []analyses.Query {
	return []analyses.Query{
		{Name: "coproductions", Columns: []string{"movie_id", "title", "genres"}, Tables: []string{"coproductions"}},
		{Name: "budgets", Columns: []string{"country", "budget"}, Tables: []string{"budgets"}},
		{Name: "ratings", Columns: []string{"rank", "movie_id", "title", "average_rating", "ratings"}, Tables: []string{"ratings"}},
		{Name: "actors", Columns: []string{"actor", "movies"}, Tables: []string{"actors"}},
		{Name: "sentiment", Columns: []string{"sentiment", "average_revenue_to_budget", "movies"}, Tables: []string{"sentiment"}},
	}
}
