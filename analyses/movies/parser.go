package movies

import (
	"errors"
	"fmt"
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/internal/vader"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

func newParser(_ analyses.Args, stream int, _ analyses.File, b *batch.Builder) (func([][]byte) error, error) {
	switch stream {
	case movies:
		feelings, err := vader.New()
		if err != nil {
			return nil, fmt.Errorf("movies: %w", err)
		}
		return parseMovies(b, feelings), nil
	case ratings:
		return parseRatings(b), nil
	case credits:
		return parseCredits(b), nil
	}
	return nil, fmt.Errorf("movies has no stream %d", stream)
}

var errRatio = errors.New("revenue / budget is too large")

// positive is the least score of a POSITIVE movie. A movie with a score of at most -positive is NEGATIVE.
const positive = 0.05

func parseMovies(b *batch.Builder, feelings *vader.Analyzer) func([][]byte) error {
	id, released, budgets, ratios := b.Int(movieID), b.Int(movieReleased), b.Float(movieBudget), b.Float(movieRatio)
	feeling, title, genres, countries := b.Int(movieFeeling), b.Text(movieTitle), b.Dict(movieGenres), b.Dict(movieCountries)
	var genreNames, countryNames names
	return func(f [][]byte) error {
		n, ok := csv.ParseInt(f[0])
		if !ok {
			return analyses.BadField("id", f[0], "an integer")
		}
		day, ok := csv.ParseDate(f[1])
		if !ok {
			return analyses.BadField("release_date", f[1], "a date YYYY-MM-DD")
		}
		m, err := readMoney(f[2], f[3])
		switch {
		case err != nil:
			return err
		case len(f[4]) == 0:
			return analyses.BadField("title", nil, "")
		case len(f[5]) == 0:
			return analyses.BadField("overview", nil, "")
		}
		if err := genreNames.read("genres", f[6]); err != nil {
			return err
		}
		if err := countryNames.read("production_countries", f[7]); err != nil {
			return err
		}
		id.Append(n)
		released.Append(day)
		budgets.Append(m.budget)
		ratios.Append(m.ratio)
		feeling.Append(m.feeling(feelings, f[5]))
		title.Append(f[4])
		genres.Append(genreNames.joined())
		countries.Append(countryNames.packed)
		return nil
	}
}

// money holds the budget and the revenue of a movie.
type money struct {
	budget float64
	both   bool    // budget and revenue are above 0
	ratio  float64 // revenue / budget, if both are above 0
}

func readMoney(budget, revenue []byte) (m money, err error) {
	var ok bool
	if m.budget, ok = csv.ParseFloat(budget); !ok {
		return m, analyses.BadField("budget", budget, "a number")
	}
	earned, ok := csv.ParseFloat(revenue)
	if !ok {
		return m, analyses.BadField("revenue", revenue, "a number")
	}
	if m.both = m.budget > 0 && earned > 0; m.both {
		if m.ratio = earned / m.budget; math.IsInf(m.ratio, 0) {
			return m, errRatio
		}
	}
	return m, nil
}

// feeling returns the feeling of the overview if the movie counts in query sentiment, else 0. Most movies do not count, and
// scoring is the most expensive part of parsing a row.
func (m *money) feeling(feelings *vader.Analyzer, overview []byte) int64 {
	if !m.both {
		return 0
	}
	switch score := feelings.Compound(overview); {
	case score >= positive:
		return 1
	case score <= -positive:
		return -1
	}
	return 0
}

func parseRatings(b *batch.Builder) func([][]byte) error {
	movie, rating := b.Int(ratingMovie), b.Dict(ratingValue)
	return func(f [][]byte) error {
		id, ok := csv.ParseInt(f[0])
		if !ok {
			return analyses.BadField("movieId", f[0], "an integer")
		}
		if !rating.AppendKnown(f[1]) {
			if _, ok := csv.ParseFloat(f[1]); !ok {
				return analyses.BadField("rating", f[1], "a number")
			}
			rating.Append(f[1])
		}
		movie.Append(id)
		return nil
	}
}

func parseCredits(b *batch.Builder) func([][]byte) error {
	movie, members := b.Int(creditMovie), b.Text(creditCast)
	var c cast
	return func(f [][]byte) error {
		if err := c.read(f[0]); err != nil {
			return err
		}
		id, ok := csv.ParseInt(f[1])
		if !ok {
			return analyses.BadField("id", f[1], "an integer")
		}
		movie.Append(id)
		members.Append(c.packed)
		return nil
	}
}
