package movies_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/test/analysistest"
)

// oddRatings are fields by column that are unusual or wrong.
var oddRatings = [][]string{
	{"", "x"},
	{"", "-7", "+5", "86.2", "100992832", "9223372036854775807", "99999999999999999999", `"862"`, `""`, "8 62"},
	{"", "five", "NaN", "1e0", "+2.5", "3.3333333333333335", ".5", "4.0.0", `"4.0"`, `"4""0"`, `""`, "a rating of many letters"},
	{"", `"1260730746"`},
}

func TestRunsOfRatingsAreRatings(t *testing.T) {
	const ratings = 1 // the stream
	analysistest.Runs(t, movies.New(), ratings, analyses.File{Name: "ratings.csv"}, heads["ratings.csv"], func(r *rand.Rand) []string {
		f := []string{fmt.Sprint(r.IntN(1000)), fmt.Sprint(r.IntN(2_000_000)), fmt.Sprintf("%d.%d", r.IntN(5), 5*r.IntN(2)), "1260730746"}
		if r.IntN(40) == 0 {
			c := r.IntN(len(f))
			f[c] = oddRatings[c][r.IntN(len(oddRatings[c]))]
		}
		return f
	})
}
