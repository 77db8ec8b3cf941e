package flights

import (
	"errors"
	"fmt"

	"posta/analyses"
	"posta/csv"
)

// settings are the parameters of a session, parsed.
type settings struct {
	minStopovers int64
	detourFactor float64
	fastestLegs  int64
}

func params() []analyses.Param {
	return []analyses.Param{
		{Name: "min_stopovers", Default: "3", Check: checkCount(0),
			About: "stopovers, fastest: rows with at least so many; 0 takes every row, and keeps all of them"},
		{Name: "detour_factor", Default: "4", Check: checkFactor,
			About: "detours: a total distance of more than this times the direct one; 1 takes nearly all that are not direct"},
		{Name: "fastest_legs", Default: "2", Check: checkCount(1),
			About: "fastest: how many legs per journey, at least 1"},
	}
}

var (
	errCount  = errors.New("give a whole number up to a billion, like 2")
	errFactor = errors.New("give a decimal number that is not below 0, like 4 or 2.5")
)

func checkCount(least int64) func(string) error {
	return func(v string) error {
		if n, ok := csv.ParseInt([]byte(v)); !ok || n < least || n > 1e9 {
			return errCount
		}
		return nil
	}
}

func checkFactor(v string) error {
	if f, ok := csv.ParseFloat([]byte(v)); !ok || f < 0 {
		return errFactor
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
	s.minStopovers, _ = csv.ParseInt([]byte(args[0]))
	s.detourFactor, _ = csv.ParseFloat([]byte(args[1]))
	s.fastestLegs, _ = csv.ParseInt([]byte(args[2]))
	return s, nil
}
