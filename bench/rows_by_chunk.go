package bench

import (
	"bytes"
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// rowsByChunk is an analysis that shows the effect of each chunk: every row carries the number of its chunk, and rows
// are counted by that number. A chunk has had its effect when all of its rows are counted.
var rowsByChunk = &analyses.Analysis{
	Name: "chunks", About: "rows by the chunk they came in",
	Streams: []analyses.Stream{{
		Name: "chunks", Files: "chunks.csv", Columns: analyses.Columns("chunk"), Schema: []batch.FieldSpec{{Name: "chunk", Kind: batch.Int}},
	}},
	Tables:    rowsByChunkTables,
	Queries:   []analyses.Query{{Name: "seen", Columns: []string{"chunk", "rows"}, Tables: []string{"seen"}}},
	NewJoiner: analyses.FoldFacts(rowsByChunkTables, countRowsByChunk),
	Reduce: func(_ analyses.Args, _ int, tables []*fold.Table, emit func(row ...any)) error {
		for _, row := range tables[0].Rows() {
			emit(tables[0].KeyInt(row, 0), tables[0].Sum(row, 0))
		}
		return nil
	},
}

var rowsByChunkTables = []fold.Spec{{
	Name: "seen", Stream: "chunks", Keys: []fold.Key{{Name: "chunk", Kind: fold.KeyInt}}, Aggs: []fold.Agg{{Name: "rows", Kind: fold.Sum}},
}}

func countRowsByChunk(f analyses.Facts, tables []*fold.Table) error {
	t, chunks := tables[0], f.Ints(0)
	for i := range f.Rows() {
		t.AddSum(t.Row(t.Key().Int(chunks.At(i))), 0, 1)
	}
	return nil
}

const (
	chunkHeader = "chunk,note"
	chunkRows   = 1024 // per chunk; each has about 64 bytes
)

// chunkOf returns chunk n as a client sends it.
func chunkOf(n int) []byte {
	row := fmt.Appendf(nil, "%d,%s\n", n, bytes.Repeat([]byte("posta "), 9))
	return bytes.Repeat(row, chunkRows)
}
