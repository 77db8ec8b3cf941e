package bikes_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/analysistest"
	"posta.dev/posta/test/oracle/bikesoracle"
)

var subject = analysistest.Subject{New: bikes.New, Oracle: bikesoracle.Run, Generate: gen.Bikes}

func TestD1_AnswersAreTheOraclesWhateverTheInterleaving(t *testing.T) {
	subject.Interleavings(t, analysistest.Interleavings{Rows: 24000, Chunks: [2]int{13, 17}, Answers: []int{1, 1, 1}, Rejected: 5})
}

func TestD1_ChunksOfOneRowAreTheSameAsLargeOnes(t *testing.T) { subject.TinyChunks(t, 600) }

func TestParametersMeanTheSameToTheOracle(t *testing.T) {
	subject.Params(t, 20000, 1<<15, []map[string]string{
		{"rain_mm": "0", "min_km": "0", "factor": "0.5"},
		{"rain_mm": "29.999", "min_km": "7.25", "factor": "1.1"},
		{"year_before": "2014", "year_after": "2015", "city": "washington", "min_km": "1e-3"},
		{"year_before": "2017", "year_after": "2017", "factor": "1"},
		{"year_before": "+2015", "year_after": "1999", "factor": "0.000001", "city": "noStop"},
		{"rain_mm": "-1", "city": "toronto"},
	})
}

func TestAMeanThatIsTheThresholdIsNotAboveIt(t *testing.T) {
	dir := subject.Generated(t, 20000, 2)
	all := subject.Run(t, dir, local.Options{Params: map[string]string{"min_km": "0"}}).Query("far").Rows
	km := all[len(all)/2][1].(float64)
	for limit, want := range map[float64]bool{km: false, math.Nextafter(km, 0): true} {
		params := map[string]string{"min_km": strconv.FormatFloat(limit, 'g', -1, 64)}
		got := subject.Run(t, dir, local.Options{Params: params})
		analysistest.Same(t, params["min_km"], got, subject.Want(t, dir, params))
		there := slices.ContainsFunc(got.Query("far").Rows, func(r []any) bool { return r[0] == all[len(all)/2][0] })
		if there != want {
			t.Errorf("mean %v above %v: %v", km, limit, there)
		}
	}
}

func TestSamples(t *testing.T) { subject.Samples(t, 25000) }
