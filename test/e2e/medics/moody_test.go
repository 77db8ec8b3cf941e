package medics

import (
	"os"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// moody counts words. Its joiner hangs on the word "hang". On the word "exit" it ends the process, as the kernel does
// when a process takes too much memory.
func moody() *analyses.Analysis {
	tables := []fold.Spec{{Name: "words", Stream: "words", Keys: []fold.Key{{Name: "word", Kind: fold.KeyText}},
		Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}}}
	return &analyses.Analysis{
		Name: "moody", About: "counts words, and does not like some of them",
		Streams: []analyses.Stream{{
			Name: "words", Files: "words.csv", Columns: []analyses.Column{{Name: "word"}},
			Schema: []batch.FieldSpec{{Name: "word", Kind: batch.Text}},
		}},
		Tables: tables, Queries: []analyses.Query{{Name: "words", Columns: []string{"word", "n"}, Tables: []string{"words"}}},
		NewJoiner: analyses.FoldFacts(tables, func(f analyses.Facts, t []*fold.Table) error {
			words := f.Texts(0)
			for i := range f.Rows() {
				word := words.At(i)
				switch string(word) {
				case "hang":
					select {}
				case "exit":
					os.Exit(9)
				}
				t[0].AddSum(t[0].Row(t[0].Key().Text(word)), 0, 1)
			}
			return nil
		}),
		Reduce: func(_ analyses.Args, _ int, t []*fold.Table, emit func(row ...any)) error {
			for _, row := range t[0].Sorted(nil) {
				emit(string(t[0].KeyText(row, 0)), t[0].Sum(row, 0))
			}
			return nil
		},
	}
}
