package exec

import (
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
)

// columnReader reads runs of columnar chunks (analyses.Analysis.NewColumnParser).
type columnReader struct {
	inBulk
	run   *columnar.Run
	words []words // by reader
	chunk uint64  // that words is about
	lines *batch.IntBuilder
	at    []int64 // lines of rows
}

// words is what is known of the dictionary of a column of texts in a chunk, by code.
type words struct {
	known  []uint32 // the codes of the builder plus 1; 0: not known
	within []int8   // whether a bounded column may have the text: 1 yes, -1 no, 0 not known
	rare   bool     // texts of the batch hardly repeat
}

// Columns returns the function that reads the rows of a columnar file many at once.
func (s *Scan) Columns(file analyses.File, b *batch.Builder) func(run *columnar.Run) (read, taken int) {
	x := &columnReader{inBulk: s.inBulk(file, b, columnar.MaxRun)}
	x.words = make([]words, len(x.readers))
	if s.Line {
		x.lines = b.Int(len(s.Wanted) + len(x.masks))
	}
	return x.read
}

// read implements analyses.Analysis.NewColumnParser.
func (x *columnReader) read(run *columnar.Run) (read, taken int) {
	x.run = run
	if x.chunk != run.Chunk() {
		x.chunk = run.Chunk()
		x.begins()
	}
	read, rows := x.inBulk.read(x, run.Rows())
	if x.lines != nil {
		x.at = x.at[:0]
		for _, row := range rows {
			x.at = append(x.at, int64(run.Line())+int64(row))
		}
		x.lines.AppendAll(x.at)
	}
	return read, len(rows)
}

// fewEntries is how many entries of a chunk's dictionary are looked for in the builder, because the chunk may have several dictionaries.
// A larger one hardly has an entry that the builder has.
const fewEntries = 256

// appendTexts implements runFields.
func (x *columnReader) appendTexts(i int, rows []int32) {
	r, w, run := &x.readers[i], &x.words[i], x.run
	x.markNulls(r, rows)
	if entries, ok := run.Dictionary(r.column); ok {
		r.texts.AppendCodes(run.Codes(r.column, rows), w.known, entries <= fewEntries,
			func(code uint32) []byte { return run.Entry(r.column, code) })
		return
	}
	data, from, to := run.Texts(r.column, rows)
	if !run.InChunk(r.column) {
		r.texts.AppendAll(data, from, to)
		return
	}
	appendRare(r.texts, &w.rare, data, from, to)
}

// rareRows is how many texts show whether those of a column repeat.
const rareRows = columnar.MaxRun / 4

// appendRare appends texts that are valid as long as the chunk is. Once most of some rows have texts that are new, no further ones are
// looked for: expressions over such a column are computed by row in any case. If this shows in the first rows of a batch, all texts are
// views, and nothing is copied. What the chunk before had does not count, because a chunk has to give the same bytes in every parser.
func appendRare(out *batch.DictBuilder, rare *bool, data []byte, from, to []uint32) {
	if out.Rows() == 0 {
		if *rare = false; len(from) >= rareRows {
			out.AppendAll(data, from[:rareRows], to[:rareRows])
			*rare = 2*out.Len() > rareRows
			out.Clear()
		}
	}
	if *rare {
		out.AppendViews(data, from, to)
		return
	}
	before := out.Len()
	out.AppendAll(data, from, to)
	*rare = len(from) >= rareRows && 2*(out.Len()-before) > len(from)
}

// begins forgets the dictionaries of the chunk before.
func (x *columnReader) begins() {
	for i := range x.readers {
		if x.readers[i].texts == nil {
			continue
		}
		entries, _ := x.run.Dictionary(x.readers[i].column)
		w := &x.words[i]
		w.known = slices.Grow(w.known[:0], entries+1)[:entries+1]
		clear(w.known)
		if i < x.bounded {
			w.within = slices.Grow(w.within[:0], entries+1)[:entries+1]
			clear(w.within)
			w.within[0] = -1
		}
	}
}

// fill implements runFields.
func (x *columnReader) fill(i int, rows []int32) (n int) {
	r, c := &x.readers[i], &x.columns[i]
	switch {
	case r.texts != nil:
		return len(rows)
	case r.doubles != nil:
		c.floats = x.run.Floats(c.floats[:0], r.column, rows)
		n = len(c.floats)
	default:
		c.ints = x.run.Ints(c.ints[:0], r.column, rows)
		n = len(c.ints)
	}
	x.markNulls(r, rows[:n])
	return n
}

// markNulls sets the bits of the NULLs of a column.
func (x *columnReader) markNulls(r *fieldReader, rows []int32) {
	if nulls := x.run.Nulls(r.column, rows); nulls != nil {
		bits, shift := x.bits[r.column/nullsIn][:len(nulls)], r.column%nullsIn
		for k, null := range nulls {
			bits[k] |= int64(null) << shift
		}
	}
}

// textsWithin implements runFields.
func (x *columnReader) textsWithin(i int, rows []int32) []int32 {
	r, run, kept := &x.readers[i], x.run, x.kept[:0]
	if r.within.Everything() && run.Nulls(r.column, rows) == nil {
		x.kept = everyRow(kept, len(rows))
		return x.kept
	}
	if _, ok := run.Dictionary(r.column); ok {
		within := x.words[i].within
		for k, code := range run.Codes(r.column, rows) {
			if within[code] == 0 {
				if within[code] = -1; r.within.Text(run.Entry(r.column, code)) {
					within[code] = 1
				}
			}
			if within[code] > 0 {
				kept = append(kept, int32(k))
			}
		}
	} else {
		nulls := run.Nulls(r.column, rows)
		data, from, to := run.Texts(r.column, rows)
		for k := range rows {
			if (nulls == nil || nulls[k] == 0) && r.within.Text(data[from[k]:to[k]]) {
				kept = append(kept, int32(k))
			}
		}
	}
	x.kept = kept
	return kept
}
