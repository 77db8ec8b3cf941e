package main

import (
	"os"
	"reflect"
	"testing"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
)

func run(t *testing.T, dir string, o local.Options) []answer.Query {
	t.Helper()
	found, err := local.Run(wordcount(), os.DirFS(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	return found.Queries
}

func TestTheMostFrequentWords(t *testing.T) {
	got := run(t, "testdata", local.Options{Params: map[string]string{"top": "3"}})
	top := [][]any{{"the", int64(15)}, {"and", int64(4)}, {"letter", int64(4)}}
	total := [][]any{{int64(10), int64(78), int64(40)}}
	if !reflect.DeepEqual(got[0].Rows, top) || !reflect.DeepEqual(got[1].Rows, total) {
		t.Errorf("%v\n%v", got[0].Rows, got[1].Rows)
	}
}

// With a seed everything is drawn that a cluster leaves open: which joiner gets which lines, where files are cut, who crashes.
func TestTheAnswerIsTheSameHoweverTheWorkIsSpread(t *testing.T) {
	want := run(t, "testdata", local.Options{})
	for seed := uint64(1); seed <= 50; seed++ {
		o := local.Options{Seed: seed, Joiners: 1 + int(seed%4), Aggregators: 1 + int(seed%3), ChunkBytes: 100}
		if got := run(t, "testdata", o); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v: %v, want %v", o, got, want)
		}
	}
}
