package movies

import (
	"errors"

	"posta.dev/posta/analyses"
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
		{Name: "top_countries", Default: "5", Check: analyses.Integer(1, maxTop),
			About: "budgets: how many countries are shown, those with the largest sums"},
		{Name: "top_actors", Default: "10", Check: analyses.Integer(1, maxTop),
			About: "actors: how many actors are shown, those with the most movies"},
	}
}

// maxTop bounds an answer, which is one message to the client.
const maxTop = 100000

var errCountry = errors.New("give the name of a country, like Argentina")

func checkCountry(v string) error {
	if v == "" {
		return errCountry
	}
	return nil
}

func readSettings(args analyses.Args) (s settings, err error) {
	if err := args.Check(params()); err != nil {
		return s, err
	}
	s.country, s.partner = args[0], args[1]
	s.topCountries, s.topActors = int(args.Int(2)), int(args.Int(3))
	return s, nil
}
