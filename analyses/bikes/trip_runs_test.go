package bikes_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/test/analysistest"
)

// oddTrips are fields by column that are unusual or wrong.
var oddTrips = [][]string{
	{"", "2014-02-30 00:00:00", "2016-02-29 23:59:59", "2014-02-28 24:00:00", "2014-02-28T10:00:00", "0000-01-01 00:00:00",
		"9999-12-31 23:59:59", "1969-12-31 23:59:59",
		"2014-1-01 10:00:00", "2014-05-01", `"2014-05-01 10:00:00"`},
	{"", "7", "sixteen letters.", "seventeen letters", "a code of many more letters", `"6001"`, `"60,01"`, `"60""01"`, `""`},
	{"", "whatever"},
	{"", "7", "sixteen letters.", "seventeen letters", `"6001"`, `"60""01"`, `""`},
	{"", "60", "1.5", "-3", "+4", "1e3", "1.50", "123456789012", "0.1234567890123456789", "nan", "9007199254740992", "9007199254740993", ".5",
		"5.", "-0.0", `"60"`},
	{"", "x"},
	{"", "+2014", "-5", "99999999999999999999", "201 4", "123456789", `"2015"`},
}

func TestRunsOfTripsAreTrips(t *testing.T) {
	analysistest.Runs(t, bikes.New(), trips, analyses.File{Name: "montreal/trips.csv", Tags: []string{"montreal"}}, tripsHead,
		func(r *rand.Rand) []string {
			day := fmt.Sprintf("201%d-%02d-%02d %02d:%02d:00", r.IntN(9), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60))
			f := []string{day, fmt.Sprint(6000 + r.IntN(500)), day, fmt.Sprint(6000 + r.IntN(500)), fmt.Sprintf("%d.0", r.IntN(5000)), "1", day[:4]}
			if r.IntN(40) == 0 {
				c := r.IntN(len(f))
				f[c] = oddTrips[c][r.IntN(len(oddTrips[c]))]
			}
			return f
		})
}
