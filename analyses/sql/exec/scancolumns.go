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
	words []words // by reader
	chunk uint64  // that words is about
	lines *batch.IntBuilder
	numbs []int64
}

// words is what is known of the dictionary of a column of texts in a chunk, by code.
type words struct {
	known  []uint32 // the codes of the builder plus 1; 0: not known
	within []int8   // whether a bounded column may have the text: 1 yes, -1 no, 0 not known
	fresh  bool     // texts hardly repeat
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
	if x.chunk != run.Chunk() {
		x.chunk = run.Chunk()
		x.begins(run)
	}
	read = run.Rows()
	rows := x.inBulk.begin(read)
	for i := range x.readers {
		n := x.fill(run, i, rows)
		if n < len(rows) {
			read, rows = int(rows[n]), rows[:n]
		}
		if i < x.bounded {
			rows = x.keep(i, rows, x.within(run, i, rows))
		}
	}
	if len(rows) == 0 {
		return read, 0
	}
	for i := range x.readers {
		r, c := &x.readers[i], &x.columns[i]
		switch {
		case r.doubles != nil:
			r.doubles.AppendAll(c.floats[:len(rows)])
		case r.ints != nil:
			r.ints.AppendAll(c.ints[:len(rows)])
		default:
			x.markNulls(run, r, rows)
			x.appendTexts(run, i, rows)
		}
	}
	x.end(len(rows))
	if x.lines != nil {
		x.numbs = x.numbs[:0]
		for _, row := range rows {
			x.numbs = append(x.numbs, int64(run.Line())+int64(row))
		}
		x.lines.AppendAll(x.numbs)
	}
	return read, len(rows)
}

// fewEntries is how many entries of a chunk's dictionary are looked for in the builder, because the chunk may have several dictionaries.
// A larger one hardly has an entry that the builder has.
const fewEntries = 256

// appendTexts appends a column of texts to the builder. Once most texts of a column without a dictionary are new, no further ones of the
// chunk are looked for: expressions over such a column are computed by row in any case.
func (x *columnReader) appendTexts(run *columnar.Run, i int, rows []int32) {
	r, w := &x.readers[i], &x.words[i]
	if entries, ok := run.Dictionary(r.column); ok {
		r.texts.AppendCodes(run.Codes(r.column, rows), w.known, entries <= fewEntries,
			func(code uint32) []byte { return run.Entry(r.column, code) })
		return
	}
	if w.fresh {
		r.texts.AppendNew(run.Texts(r.column, rows))
		return
	}
	before := r.texts.Len()
	r.texts.AppendAll(run.Texts(r.column, rows))
	w.fresh = len(rows) >= columnar.MaxRun/4 && 2*(r.texts.Len()-before) > len(rows)
}

// begins forgets the dictionaries of the chunk before.
func (x *columnReader) begins(run *columnar.Run) {
	for i := range x.readers {
		if x.readers[i].texts == nil {
			continue
		}
		entries, _ := run.Dictionary(x.readers[i].column)
		w := &x.words[i]
		w.fresh = false
		w.known = slices.Grow(w.known[:0], entries+1)[:entries+1]
		clear(w.known)
		if i < x.bounded {
			w.within = slices.Grow(w.within[:0], entries+1)[:entries+1]
			clear(w.within)
			w.within[0] = -1
		}
	}
}

// fill reads the values of a column, up to one that rowReader has to read, and returns how many it has read. Of a column of TEXT it reads
// none, because the builder gets them later.
func (x *columnReader) fill(run *columnar.Run, i int, rows []int32) (n int) {
	r, c := &x.readers[i], &x.columns[i]
	switch {
	case r.texts != nil:
		return len(rows)
	case r.doubles != nil:
		c.floats = run.Floats(c.floats[:0], r.column, rows)
		n = len(c.floats)
	default:
		c.ints = run.Ints(c.ints[:0], r.column, rows)
		n = len(c.ints)
	}
	x.markNulls(run, r, rows[:n])
	return n
}

// markNulls sets the bits of the NULLs of a column.
func (x *columnReader) markNulls(run *columnar.Run, r *fieldReader, rows []int32) {
	if nulls := run.Nulls(r.column, rows); nulls != nil {
		bits, shift := x.bits[r.column/nullsIn][:len(nulls)], r.column%nullsIn
		for k, null := range nulls {
			bits[k] |= int64(null) << shift
		}
	}
}

// within returns the indices of the rows whose value in bounded column i is not NULL and within the bounds.
func (x *columnReader) within(run *columnar.Run, i int, rows []int32) (kept []int32) {
	r := &x.readers[i]
	if r.texts == nil {
		return x.numbersWithin(i, len(rows))
	}
	kept = x.kept[:0]
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
