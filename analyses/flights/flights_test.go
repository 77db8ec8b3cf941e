package flights_test

import (
	"testing"

	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/analysistest"
	"posta.dev/posta/test/oracle/flightsoracle"
)

var subject = analysistest.Subject{New: flights.New, Oracle: flightsoracle.Run, Generate: gen.Flights}

func TestD1_AnswersAreTheOraclesWhateverTheInterleaving(t *testing.T) {
	subject.Interleavings(t, analysistest.Interleavings{Rows: 20000, Chunks: [2]int{15, 19}, Answers: []int{10, 10, 10, 10}, Rejected: 5})
}

func TestD1_ChunksOfOneRowAreTheSameAsLargeOnes(t *testing.T) { subject.TinyChunks(t, 600) }

func TestParametersMeanTheSameToTheOracle(t *testing.T) {
	subject.Params(t, 6000, 1<<16, []map[string]string{
		{"min_stopovers": "0", "detour_factor": "0"},
		{"min_stopovers": "1", "fastest_legs": "1", "detour_factor": "1"},
		{"min_stopovers": "4", "fastest_legs": "1000", "detour_factor": "2.75"},
		{"min_stopovers": "+2", "fastest_legs": "3", "detour_factor": "1e300"},
	})
}

func TestSamples(t *testing.T) { subject.Samples(t, 10000) }
