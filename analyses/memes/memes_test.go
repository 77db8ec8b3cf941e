package memes_test

import (
	"testing"

	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/analysistest"
	"posta.dev/posta/test/oracle/memesoracle"
)

var subject = analysistest.Subject{New: memes.New, Oracle: memesoracle.Run, Generate: gen.Memes}

func TestD1_AnswersAreTheOraclesWhateverTheInterleaving(t *testing.T) {
	subject.Interleavings(t, analysistest.Interleavings{Rows: 40000, Chunks: [2]int{15, 19}, Answers: []int{1, 10, 1}, Rejected: 8})
}

func TestD1_ChunksOfOneRowAreTheSameAsLargeOnes(t *testing.T) { subject.TinyChunks(t, 1600) }

func TestParametersMeanTheSameToTheOracle(t *testing.T) {
	var all []map[string]string
	for _, words := range []string{"x", "me, irl", "trÈs", "i", "kelvin, ÉCOLE,ſtudent", "ai", "no context needed",
		"today years old when I learned", "🤣"} {
		all = append(all, map[string]string{"words": words})
	}
	subject.Params(t, 16000, 1<<16, all)
}

func TestSamples(t *testing.T) { subject.Samples(t, 30000) }
