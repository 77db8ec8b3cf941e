package main

import (
	"bytes"
	"unicode"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// tables say what is kept: a number for each different word, and two for all lines together.
var tables = []fold.Spec{
	{Name: "words", Stream: "lines", Keys: []fold.Key{{Name: "word", Kind: fold.KeyText}}, Aggs: []fold.Agg{{Name: "times", Kind: fold.Sum}}},
	{Name: "all", Stream: "lines", Aggs: []fold.Agg{{Name: "lines", Kind: fold.Sum}, {Name: "words", Kind: fold.Sum}}},
}

func wordcount() *analyses.Analysis {
	return &analyses.Analysis{
		Name:  "wordcount",
		About: "how often each word occurs",
		Params: []analyses.Param{
			{Name: "top", Default: "10", Check: analyses.Integer(1, 1_000_000), About: "top: how many words, the most frequent first"},
		},
		Streams: []analyses.Stream{{
			Name: "lines", Files: "*/*.csv", Columns: analyses.Columns("text"), Schema: []batch.FieldSpec{{Name: "text", Kind: batch.Text}},
		}},
		Tables: tables,
		Queries: []analyses.Query{
			{Name: "top", Columns: []string{"word", "times"}, Tables: []string{"words"}},
			{Name: "total", Columns: []string{"lines", "words", "different"}, Tables: []string{"all", "words"}},
		},
		NewJoiner: analyses.FoldFacts(tables, count),
		Reduce:    reduce,
	}
}

// count adds lines to the tables. A word is a run of letters.
func count(lines analyses.Facts, tables []*fold.Table) error {
	words, all, text := tables[0], tables[1], lines.Texts(0)
	total := all.Row(all.Key())
	for i := range lines.Rows() {
		found := bytes.FieldsFunc(bytes.ToLower(text.At(i)), func(r rune) bool { return !unicode.IsLetter(r) })
		for _, word := range found {
			words.AddSum(words.Row(words.Key().Text(word)), 0, 1)
		}
		all.AddSum(total, 0, 1)
		all.AddSum(total, 1, int64(len(found)))
	}
	return nil
}

// reduce emits the rows of a query from its tables, in which all counts have come together.
func reduce(args analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
	if query == 0 {
		words := tables[0]
		rows := words.Sorted(func(a, b int) bool { return words.Sum(a, 0) > words.Sum(b, 0) }) // equals by word
		for _, row := range rows[:min(int64(len(rows)), args.Int(0))] {
			emit(string(words.KeyText(row, 0)), words.Sum(row, 0))
		}
		return nil
	}
	all, words := tables[0], tables[1]
	for _, row := range all.Rows() {
		emit(all.Sum(row, 0), all.Sum(row, 1), int64(words.Len()))
	}
	return nil
}
