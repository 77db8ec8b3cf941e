package bikes

import (
	"errors"
	"math/big"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/csv"
)

// settings are the parameters of a session, parsed.
type settings struct {
	rainMM     float64
	yearBefore int64
	yearAfter  int64
	factor     *big.Rat
	city       string
	minKm      float64
}

func params() []analyses.Param {
	return []analyses.Param{
		{Name: "rain_mm", Default: "30", Check: checkNumber,
			About: "rain: days with more precipitation than this, in mm; 0 takes every wet day, more leaves fewer days"},
		{Name: "year_before", Default: "2016", Check: checkYear,
			About: "doubled: the year to compare with; column trips_2016 counts it, whatever it is set to"},
		{Name: "year_after", Default: "2017", Check: checkYear,
			About: "doubled: the year that is compared; column trips_2017 counts it, whatever it is set to"},
		{Name: "factor", Default: "2", Check: checkFactor,
			About: "doubled: how many times the trips of the year before; 1 takes all stations that did not shrink"},
		{Name: "city", Default: "montreal", Check: checkCity,
			About: "far: the city, as its folder is called"},
		{Name: "min_km", Default: "6", Check: checkNumber,
			About: "far: mean distances above this, in km; 0 takes every station that was not only ridden to from itself"},
	}
}

var (
	errNumber = errors.New("give a decimal number, like 30 or 2.5")
	errYear   = errors.New("give a year, like 2016")
	errFactor = errors.New("give a positive number of at most 15 digits without exponent, like 2 or 1.5")
	errCity   = errors.New("give the name of a folder")
)

func checkNumber(v string) error {
	if _, ok := csv.ParseFloat([]byte(v)); !ok {
		return errNumber
	}
	return nil
}

func checkYear(v string) error {
	if _, ok := csv.ParseInt([]byte(v)); !ok {
		return errYear
	}
	return nil
}

func checkFactor(v string) error {
	// Digits are bounded because the factor is a fraction of integers of any length: 1e999999999 would exhaust the memory.
	d, ok := csv.ParseDecimal([]byte(v))
	if !ok || d.Value <= 0 || len(v) > 16 {
		return errFactor
	}
	return nil
}

func checkCity(v string) error {
	if v == "" {
		return errCity
	}
	return nil
}

func readSettings(args analyses.Args) (s settings, err error) {
	if err := args.Check(params()); err != nil {
		return s, err
	}
	s.rainMM, _ = csv.ParseFloat([]byte(args[0]))
	s.yearBefore, s.yearAfter = args.Int(1), args.Int(2)
	d, _ := csv.ParseDecimal([]byte(args[3]))
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil)
	s.factor = new(big.Rat).SetFrac(big.NewInt(d.Value), scale)
	s.city = args[4]
	s.minKm, _ = csv.ParseFloat([]byte(args[5]))
	return s, nil
}
