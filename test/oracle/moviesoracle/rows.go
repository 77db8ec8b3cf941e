package moviesoracle

import (
	"fmt"
	"math"
	"strings"
	"time"

	"posta.dev/posta/test/oracle/oraclecsv"
	literals "posta.dev/posta/test/oracle/pyliteral"
)

// movie is a row of movies_metadata.csv.
type movie struct {
	year            int
	budget          float64
	ratio           float64
	sentiment       string // POSITIVE, NEGATIVE, or ""
	title, genres   string
	countries       []string
	producedBy      map[string]bool
	ratingsOf       oraclecsv.Mean
	countsForRating bool
}

func (o *oracle) movie(f []string) error {
	id, err := oraclecsv.Integer("id", f[0])
	if err != nil {
		return err
	}
	released, err := time.Parse(time.DateOnly, f[1])
	if err != nil {
		return oraclecsv.Invalid("release_date", f[1], "a date YYYY-MM-DD")
	}
	budget, err := oraclecsv.Number("budget", f[2], "a number")
	if err != nil {
		return err
	}
	revenue, err := oraclecsv.Number("revenue", f[3], "a number")
	if err != nil {
		return err
	}
	paid := budget > 0 && revenue > 0
	if paid && revenue/budget > math.MaxFloat64 {
		return fmt.Errorf("revenue / budget is too large")
	}
	for i, column := range []string{"title", "overview"} {
		if f[4+i] == "" {
			return oraclecsv.Invalid(column, "", "")
		}
	}
	genres, err := names("genres", f[6])
	if err != nil {
		return err
	}
	countries, err := names("production_countries", f[7])
	if err != nil {
		return err
	}
	if o.movies[id] != nil {
		return nil // the first row wins
	}
	m := &movie{year: released.Year(), budget: budget, title: f[4], genres: strings.Join(genres, ", "), countries: countries}
	m.producedBy = map[string]bool{}
	for _, c := range countries {
		m.producedBy[c] = true
	}
	m.countsForRating = m.producedBy[o.params["country"]] && m.year >= 2000
	if paid {
		m.ratio = revenue / budget
		if score := o.scorer.Compound(f[5]); score >= 0.05 {
			m.sentiment = "POSITIVE"
		} else if score <= -0.05 {
			m.sentiment = "NEGATIVE"
		}
	}
	o.movies[id] = m
	return nil
}

func (o *oracle) rating(f []string) error {
	id, err := oraclecsv.Integer("movieId", f[0])
	if err != nil {
		return err
	}
	value, err := oraclecsv.Number("rating", f[1], "a number")
	if err != nil {
		return err
	}
	if m := o.movies[id]; m != nil && m.countsForRating {
		m.ratingsOf.Add(value)
	}
	return nil
}

func (o *oracle) credit(f []string) error {
	cast, err := list("cast", f[0])
	if err != nil {
		return err
	}
	persons := map[int64]string{}
	for i, member := range cast {
		name, ok := entry(member, "name").(string)
		if !ok {
			return fmt.Errorf("cast: element %d has no name", i+1)
		}
		id, ok := entry(member, "id").(int64)
		if !ok {
			return fmt.Errorf("cast: element %d has no id", i+1)
		}
		if old, ok := persons[id]; !ok || name < old {
			persons[id] = name
		}
	}
	id, err := oraclecsv.Integer("id", f[1])
	if err != nil {
		return err
	}
	if m := o.movies[id]; m == nil || !m.countsForRating {
		return nil
	}
	for person, name := range persons {
		a := o.actors[person]
		if a == nil {
			a = &actor{id: person, name: name, movies: map[int64]bool{}}
			o.actors[person] = a
		}
		a.name = min(a.name, name)
		a.movies[id] = true
	}
	return nil
}

func list(column, literal string) ([]any, error) {
	if literal == "" {
		return nil, oraclecsv.Invalid(column, "", "")
	}
	v, err := literals.Eval(literal)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", column, err)
	}
	elements, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is not a list", column)
	}
	return elements, nil
}

func entry(element any, key string) any {
	dict, _ := element.(map[any]any)
	return dict[key]
}

func names(column, literal string) ([]string, error) {
	elements, err := list(column, literal)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, e := range elements {
		name, ok := entry(e, "name").(string)
		if !ok {
			return nil, fmt.Errorf("%s: element %d has no name", column, i+1)
		}
		out = append(out, name)
	}
	return out, nil
}
