package flightsoracle

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"posta.dev/posta/test/oracle/oraclecsv"
)

var (
	plain    = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$`)
	duration = regexp.MustCompile(`^P(?:([0-9]{1,9})D)?(T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?)?$`)
)

func (o *oracle) airport(f []string) error {
	if f[0] == "" {
		return oraclecsv.Invalid("Airport Code", "", "")
	}
	lat, err := oraclecsv.Number("Latitude", f[1], "a latitude")
	if err != nil || math.Abs(lat) > 90 {
		return oraclecsv.Invalid("Latitude", f[1], "a latitude")
	}
	lon, err := oraclecsv.Number("Longitude", f[2], "a longitude")
	if err != nil || math.Abs(lon) > 360 {
		return oraclecsv.Invalid("Longitude", f[2], "a longitude")
	}
	o.airports[f[0]] = place{lat, lon}
	return nil
}

func (o *oracle) itinerary(f []string) error {
	r := row{leg: strings.Clone(f[0]), start: strings.Clone(f[1]), destination: strings.Clone(f[2])}
	for i, column := range []string{"legId", "startingAirport", "destinationAirport"} {
		if f[i] == "" {
			return oraclecsv.Invalid(column, "", "")
		}
	}
	var err error
	if r.minutes, err = minutes(f[3]); err != nil {
		return err
	}
	if r.fare, err = money(f[4]); err != nil {
		return err
	}
	if f[5] != "" {
		if r.miles, err = oraclecsv.Number("totalTravelDistance", f[5], "a number"); err != nil {
			return err
		}
	}
	r.arrivals = strings.Split(strings.Clone(f[6]), "||")
	for _, a := range r.arrivals {
		if a == "" {
			return oraclecsv.Invalid("segmentsArrivalAirportCode", f[6], "a list of airports joined by ||")
		}
	}
	o.take(r)
	return nil
}

func minutes(s string) (int64, error) {
	m := duration.FindStringSubmatch(s)
	if m == nil || m[1] == "" && m[2] == "" || m[2] == "T" {
		return 0, oraclecsv.Invalid("travelDuration", s, "a duration like PT2H29M or P1DT9M")
	}
	total := int64(0)
	for i, each := range map[int]int64{1: 24 * 60, 3: 60, 4: 1} {
		if m[i] != "" {
			v, err := strconv.ParseInt(m[i], 10, 64)
			if err != nil {
				return 0, err
			}
			total += v * each
		}
	}
	return total, nil
}

// money reads an amount of whole cents that has at most 18 digits and fits 64 bits.
func money(s string) (*big.Rat, error) {
	fault := oraclecsv.Invalid("totalFare", s, "an amount in whole cents")
	digits := len(strings.Trim(s, "+-")) - strings.Count(s, ".")
	if !plain.MatchString(s) || digits > 18 {
		return nil, fault
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fault
	}
	cents := new(big.Rat).Mul(r, big.NewRat(100, 1))
	if !cents.IsInt() || !cents.Num().IsInt64() {
		return nil, fault
	}
	return r, nil
}
