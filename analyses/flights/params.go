package flights

import (
	"errors"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/csv"
)

// settings are the parameters of a session, parsed.
type settings struct {
	minStopovers int64
	detourFactor float64
	fastestLegs  int64
}

func params() []analyses.Param {
	return []analyses.Param{
		{Name: "min_stopovers", Default: "3", Check: analyses.Integer(0, maxCount),
			About: "stopovers, fastest: rows with at least so many; 0 takes every row, and keeps all of them"},
		{Name: "detour_factor", Default: "4", Check: checkFactor,
			About: "detours: a total distance of more than this times the direct one; 1 takes nearly all that are not direct"},
		{Name: "fastest_legs", Default: "2", Check: analyses.Integer(1, maxCount),
			About: "fastest: how many legs per journey, at least 1"},
	}
}

const maxCount = 1e9

var errFactor = errors.New("give a decimal number that is not below 0, like 4 or 2.5")

func checkFactor(v string) error {
	if f, ok := csv.ParseFloat([]byte(v)); !ok || f < 0 {
		return errFactor
	}
	return nil
}

func readSettings(args analyses.Args) (s settings, err error) {
	if err := args.Check(params()); err != nil {
		return s, err
	}
	s.minStopovers, s.fastestLegs = args.Int(0), args.Int(2)
	s.detourFactor, _ = csv.ParseFloat([]byte(args[1]))
	return s, nil
}
