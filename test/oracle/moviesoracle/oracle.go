package moviesoracle

import (
	"math"
	"sort"
	"strconv"
	"sync"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/test/oracle/oraclecsv"
	"posta.dev/posta/test/oracle/vader"
)

type actor struct {
	id     int64
	name   string
	movies map[int64]bool
}

type oracle struct {
	params map[string]string
	scorer *naive.Scorer
	movies map[int64]*movie
	actors map[int64]*actor
}

// newScorer reads the lexicon only once, because tests call Run often.
var newScorer = sync.OnceValues(naive.New)

// Run answers the queries over dir/{movies_metadata,ratings,credits}.csv. Params that are not given have their defaults.
func Run(dir string, params map[string]string) (*answer.Answer, error) {
	scorer, err := newScorer()
	if err != nil {
		return nil, err
	}
	o := &oracle{
		params: map[string]string{"country": "Argentina", "partner": "Spain", "top_countries": "5", "top_actors": "10"},
		scorer: scorer, movies: map[int64]*movie{}, actors: map[int64]*actor{},
	}
	for k, v := range params {
		o.params[k] = v
	}
	rejected, err := oraclecsv.ReadStreams(dir,
		oraclecsv.Stream{Name: "movies", File: "movies_metadata.csv", Row: o.movie,
			Columns: []string{"id", "release_date", "budget", "revenue", "title", "overview", "genres", "production_countries"}},
		oraclecsv.Stream{Name: "ratings", File: "ratings.csv", Columns: []string{"movieId", "rating"}, Row: o.rating},
		oraclecsv.Stream{Name: "credits", File: "credits.csv", Columns: []string{"cast", "id"}, Row: o.credit})
	if err != nil {
		return nil, err
	}
	return &answer.Answer{Analysis: "movies", Session: "oracle", Rejected: rejected,
		Queries: []answer.Query{o.coproductions(), o.budgets(), o.ratings(), o.actorsQuery(), o.sentiments()}}, nil
}

// ids returns the ids of the movies that fit, lowest first.
func (o *oracle) ids(fits func(*movie) bool) []int64 {
	var out []int64
	for id, m := range o.movies {
		if fits(m) {
			out = append(out, id)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func (o *oracle) coproductions() answer.Query {
	q := answer.Query{Name: "coproductions", Columns: []string{"movie_id", "title", "genres"}}
	for _, id := range o.ids(func(m *movie) bool {
		return m.producedBy[o.params["country"]] && m.producedBy[o.params["partner"]] && m.year >= 2000 && m.year <= 2009
	}) {
		q.Rows = append(q.Rows, []any{id, o.movies[id].title, o.movies[id].genres})
	}
	return q
}

// top returns how many of n rows a parameter allows.
func (o *oracle) top(param string, n int) int {
	limit, err := strconv.Atoi(o.params[param])
	if err != nil {
		return 0
	}
	return min(limit, n)
}

func (o *oracle) budgets() answer.Query {
	sums := map[string]*oraclecsv.Mean{}
	for _, m := range o.movies {
		if len(m.countries) != 1 {
			continue
		}
		if sums[m.countries[0]] == nil {
			sums[m.countries[0]] = new(oraclecsv.Mean)
		}
		sums[m.countries[0]].Add(m.budget)
	}
	var countries []string
	for c := range sums {
		countries = append(countries, c)
	}
	sort.Slice(countries, func(i, j int) bool {
		a, b := countries[i], countries[j]
		if x, y := sums[a].Total(), sums[b].Total(); x != y {
			return x > y
		}
		return a < b
	})
	q := answer.Query{Name: "budgets", Columns: []string{"country", "budget"}}
	for _, c := range countries[:o.top("top_countries", len(countries))] {
		var shown any = sums[c].Total()
		if v := sums[c].Total(); math.Floor(v) == v && math.Abs(v) <= 1<<53 {
			shown = int64(v)
		}
		q.Rows = append(q.Rows, []any{c, shown})
	}
	return q
}

func (o *oracle) ratings() answer.Query {
	q := answer.Query{Name: "ratings", Columns: []string{"rank", "movie_id", "title", "average_rating", "ratings"}}
	ids := o.ids(func(m *movie) bool { return m.ratingsOf.N > 0 })
	if len(ids) == 0 {
		return q
	}
	best, worst := ids[0], ids[0]
	for _, id := range ids {
		v := o.movies[id].ratingsOf.Value()
		if v > o.movies[best].ratingsOf.Value() {
			best = id
		}
		if v < o.movies[worst].ratingsOf.Value() {
			worst = id
		}
	}
	for i, id := range []int64{best, worst} {
		m := o.movies[id]
		q.Rows = append(q.Rows, []any{[]string{"best", "worst"}[i], id, m.title, m.ratingsOf.Value(), m.ratingsOf.N})
	}
	return q
}

func (o *oracle) actorsQuery() answer.Query {
	var all []*actor
	for _, a := range o.actors {
		all = append(all, a)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		switch {
		case len(a.movies) != len(b.movies):
			return len(a.movies) > len(b.movies)
		case a.name != b.name:
			return a.name < b.name
		}
		return a.id < b.id
	})
	q := answer.Query{Name: "actors", Columns: []string{"actor", "movies"}}
	for _, a := range all[:o.top("top_actors", len(all))] {
		q.Rows = append(q.Rows, []any{a.name, int64(len(a.movies))})
	}
	return q
}

func (o *oracle) sentiments() answer.Query {
	q := answer.Query{Name: "sentiment", Columns: []string{"sentiment", "average_revenue_to_budget", "movies"}}
	for _, s := range []string{"NEGATIVE", "POSITIVE"} {
		var ratios oraclecsv.Mean
		for _, m := range o.movies {
			if m.sentiment == s {
				ratios.Add(m.ratio)
			}
		}
		if ratios.N > 0 {
			q.Rows = append(q.Rows, []any{s, ratios.Value(), ratios.N})
		}
	}
	return q
}
