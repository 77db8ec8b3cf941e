package movies_test

import (
	"testing"

	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/analysistest"
	"posta.dev/posta/test/oracle/moviesoracle"
)

var subject = analysistest.Subject{New: movies.New, Oracle: moviesoracle.Run, Generate: gen.Movies, Joiners: 3}

func TestD1_AnswersAreTheOraclesWhateverTheInterleaving(t *testing.T) {
	subject.Interleavings(t, analysistest.Interleavings{Rows: 10000, Chunks: [2]int{11, 16}, Answers: []int{2, 2, 2, 2, 2}, Rejected: 5})
}

func TestD1_ChunksOfOneRowAreTheSameAsLargeOnes(t *testing.T) { subject.TinyChunks(t, 200) }

func TestParametersMeanTheSameToTheOracle(t *testing.T) {
	subject.Params(t, 2000, 1<<15, []map[string]string{
		{"country": "Spain", "partner": "Argentina", "top_countries": "1", "top_actors": "1"},
		{"country": "Lao People's Democratic Republic", "partner": "Argentina", "top_actors": "100000"},
		{"country": "Côte d'Ivoire", "partner": "Côte d'Ivoire", "top_countries": "100000"},
		{"country": "Nowhere", "partner": "Spain"},
		{"country": "France", "partner": "Nowhere", "top_countries": "+3", "top_actors": "007"},
	})
}

func TestSamples(t *testing.T) { subject.Samples(t, 10000) }
