package main

import (
	"cmp"
	"math"
	"slices"

	"posta.dev/posta/analyses/answer"
)

// movies reads each file once. Functions in Go, Posta's own code, compute what SQL cannot express, Python's literals and
// VADER: literals of every movie, casts of the selected ones, sentiments of those that count.
func movies(e *engine) ([]answer.Query, error) {
	err := e.views(
		table{"metadata", "movies_metadata.csv", ',', columns{{"id", "VARCHAR"}, {"release_date", "DATE"}, {"budget", "DOUBLE"},
			{"revenue", "DOUBLE"}, {"title", "VARCHAR"}, {"overview", "VARCHAR"}, {"genres", "VARCHAR"},
			{"production_countries", "VARCHAR"}}},
		table{"ratings", "ratings.csv", ',', columns{{"movieId", "VARCHAR"}, {"rating", "DOUBLE"}}},
		table{"credits", "credits.csv", ',', columns{{"cast", "VARCHAR"}, {"id", "VARCHAR"}}},
	)
	if err == nil {
		err = e.functions()
	}
	for _, s := range []struct{ what, text string }{
		{"macros", exactMacros + moviesMacros}, {"movies", moviesMovies}, {"chosen", moviesChosen},
	} {
		if err == nil {
			err = e.exec(s.what, s.text)
		}
	}
	var all [5]answer.Query
	for i, query := range []func(*engine) (answer.Query, error){coproductions, budgets, ratings, actors, sentiments} {
		if err == nil {
			all[i], err = query(e)
		}
	}
	return all[:], err
}

func coproductions(e *engine) (answer.Query, error) {
	q := answer.Query{Name: "coproductions", Columns: []string{"movie_id", "title", "genres"}}
	err := e.rows(q.Name, moviesCoproductions, func(scan func(...any) error) error {
		var id int64
		var title, genres string
		err := scan(&id, &title, &genres)
		q.Rows = append(q.Rows, []any{id, title, genres})
		return err
	})
	return q, err
}

func budgets(e *engine) (answer.Query, error) {
	q := answer.Query{Name: "budgets", Columns: []string{"country", "budget"}}
	type spent struct {
		country string
		total   float64
	}
	var all []spent
	err := e.rows(q.Name, moviesBudgets, func(scan func(...any) error) error {
		var country string
		var s sum
		err := scan(&country, &s.whole, &s.part)
		if err == nil {
			all = append(all, spent{country, s.value()})
		}
		return err
	})
	slices.SortFunc(all, func(a, b spent) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.country, b.country)) })
	for _, s := range all[:min(5, len(all))] {
		var shown any = s.total
		if math.Floor(s.total) == s.total && math.Abs(s.total) <= 1<<53 {
			shown = int64(s.total)
		}
		q.Rows = append(q.Rows, []any{s.country, shown})
	}
	return q, err
}

func ratings(e *engine) (answer.Query, error) {
	q := answer.Query{Name: "ratings", Columns: []string{"rank", "movie_id", "title", "average_rating", "ratings"}}
	var best, worst []any
	err := e.rows(q.Name, moviesRatings, func(scan func(...any) error) error { // lowest id first
		var id, n int64
		var title string
		var s sum
		if err := scan(&id, &title, &s.whole, &s.part, &n); err != nil {
			return err
		}
		mean := s.mean(n)
		if best == nil || mean > best[3].(float64) {
			best = []any{"best", id, title, mean, n}
		}
		if worst == nil || mean < worst[3].(float64) {
			worst = []any{"worst", id, title, mean, n}
		}
		return nil
	})
	if best != nil {
		q.Rows = [][]any{best, worst}
	}
	return q, err
}

func actors(e *engine) (answer.Query, error) {
	q := answer.Query{Name: "actors", Columns: []string{"actor", "movies"}}
	err := e.rows(q.Name, moviesActors, func(scan func(...any) error) error {
		var name string
		var n int64
		err := scan(&name, &n)
		q.Rows = append(q.Rows, []any{name, n})
		return err
	})
	return q, err
}

func sentiments(e *engine) (answer.Query, error) {
	q := answer.Query{Name: "sentiment", Columns: []string{"sentiment", "average_revenue_to_budget", "movies"}}
	err := e.rows(q.Name, moviesSentiment, func(scan func(...any) error) error {
		var feeling string
		var s sum
		var n int64
		err := scan(&feeling, &s.whole, &s.part, &n)
		if err == nil {
			q.Rows = append(q.Rows, []any{feeling, s.mean(n), n})
		}
		return err
	})
	return q, err
}

var (
	// If a movie has several rows that count, the first one wins.
	moviesMovies = `CREATE TEMP TABLE movie AS
		WITH given AS (
			SELECT n, integer_of(id) AS id, year(release_date) AS year, budget, revenue, title, overview,
				names(genres) AS genres, names(production_countries) AS countries
			FROM ` + numbered("metadata") + `
			WHERE release_date IS NOT NULL AND isfinite(budget) AND isfinite(revenue) AND title IS NOT NULL AND overview IS NOT NULL
				AND NOT (budget > 0 AND revenue > 0 AND isinf(revenue / budget)))
		SELECT * FROM given WHERE id IS NOT NULL AND genres IS NOT NULL AND countries IS NOT NULL
		QUALIFY row_number() OVER (PARTITION BY id ORDER BY n) = 1`
)

const (
	// Only digits make an integer: DuckDB would also round a fraction. Each name follows a separator.
	moviesMacros = `
		CREATE TEMP MACRO integer_of(text) AS CASE WHEN NOT contains(text, '.') AND NOT contains(text, 'e') AND NOT contains(text, 'E')
			THEN TRY_CAST(text AS BIGINT) END;
		CREATE TEMP MACRO has(names, name) AS instr((names || chr(31))::VARCHAR, (chr(31) || name || chr(31))::VARCHAR) > 0;`

	moviesChosen = `CREATE TEMP TABLE chosen AS SELECT id, title FROM movie WHERE has(countries, 'Argentina') AND year >= 2000`

	moviesCoproductions = `SELECT id, title, replace(substr(genres, 2), chr(31), ', ') FROM movie
		WHERE has(countries, 'Argentina') AND has(countries, 'Spain') AND year BETWEEN 2000 AND 2009 ORDER BY id`

	moviesBudgets = `SELECT substr(countries, 2), sum(whole(budget)), sum(part(budget)) FROM movie
		WHERE countries <> '' AND NOT contains(substr(countries, 2), chr(31)) GROUP BY countries`

	moviesRatings = `SELECT id, title, sum(whole(rating)), sum(part(rating)), count(*) FROM ratings JOIN chosen ON integer_of(movieId) = id
		WHERE isfinite(rating) GROUP BY id, title ORDER BY id`

	moviesActors = `
		WITH casts AS MATERIALIZED (SELECT c.id, c."cast" AS text FROM credits c JOIN chosen ON integer_of(c.id) = chosen.id),
		members AS (SELECT id, unnest(string_split(members(text), chr(30))) AS member FROM casts),
		persons AS (SELECT id, split_part(member, chr(31), 1)::BIGINT AS person, split_part(member, chr(31), 2) AS name FROM members WHERE member <> '')
		SELECT min(name) AS actor, count(DISTINCT id) AS movies FROM persons GROUP BY person ORDER BY movies DESC, actor, person LIMIT 10`

	moviesSentiment = `
		WITH scored AS (SELECT revenue / budget AS ratio, compound(overview) AS score FROM movie WHERE budget > 0 AND revenue > 0)
		SELECT CASE WHEN score > 0 THEN 'POSITIVE' ELSE 'NEGATIVE' END AS feeling, sum(whole(ratio)), sum(part(ratio)), count(*)
		FROM scored WHERE abs(score) >= 0.05 GROUP BY feeling ORDER BY feeling`
)
