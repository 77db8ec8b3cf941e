package movies

import (
	"errors"
	"fmt"

	"posta/analyses"
	"posta/csv"
)

// settings are the parameters of a session, parsed.
type settings struct {
	country, partner string
	topCountries     int
	topActors        int
}

func params() []analyses.Param {
	return []analyses.Param{
		{Name: "country", Default: "Argentina", Check: checkCountry,
			About: "coproductions, ratings, actors: the country, as it is called in production_countries"},
		{Name: "partner", Default: "Spain", Check: checkCountry,
			About: "coproductions: the other country; the same one takes all its movies of those years"},
		{Name: "top_countries", Default: "5", Check: checkTop,
			About: "budgets: how many countries are shown, those with the largest sums"},
		{Name: "top_actors", Default: "10", Check: checkTop,
			About: "actors: how many actors are shown, those with the most movies"},
	}
}

// maxTop bounds an answer, which is one message to the client.
const maxTop = 100000

var (
	errCountry = errors.New("give the name of a country, like Argentina")
	errTop     = fmt.Errorf("give a number from 1 to %d", maxTop)
)

func checkCountry(v string) error {
	if v == "" {
		return errCountry
	}
	return nil
}

func checkTop(v string) error {
	if n, ok := csv.ParseInt([]byte(v)); !ok || n < 1 || n > maxTop {
		return errTop
	}
	return nil
}

func readSettings(args analyses.Args) (s settings, err error) {
	ps := params()
	if len(args) != len(ps) {
		return s, fmt.Errorf("%w: %d values for %d parameters", analyses.ErrBadParam, len(args), len(ps))
	}
	for i, p := range ps {
		if err := p.Check(args[i]); err != nil {
			return s, fmt.Errorf("%w: %s is %q: %w", analyses.ErrBadParam, p.Name, args[i], err)
		}
	}
	s.country, s.partner = args[0], args[1]
	countries, _ := csv.ParseInt([]byte(args[2]))
	people, _ := csv.ParseInt([]byte(args[3]))
	s.topCountries, s.topActors = int(countries), int(people)
	return s, nil
}
