package exec

import (
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

// inBulk is what reads many rows at once, column by column. It reads what rowReader reads, in the same order: first the bounded columns, by
// which rows are skipped, then the others. It stops at the first row that rowReader would reject, and leaves that row to it. The builder
// gets the values when all columns have been read, so it never holds values of a row that is not taken.
type inBulk struct {
	readers []fieldReader // bounded ones first
	bounded int           // how many are
	columns []runColumn   // by reader
	masks   []*batch.IntBuilder
	bits    [][]int64 // by mask, the NULL bits of the rows
	missing *batch.IntBuilder
	rows    []int32 // the rows that are not skipped; its length is that of the longest run
	kept    []int32
	zeros   []int64
}

// runFields are the fields of a run, in one of the forms in which rows come. Columns are named by their reader.
type runFields interface {
	// fill reads the values of a column, up to one that cannot be read here or rejects its row, and returns how many it has read. Of a column
	// of TEXT it reads none, because the builder gets them later.
	fill(i int, rows []int32) int
	// textsWithin returns the indices of the rows whose text in a bounded column is not NULL and within the bounds.
	textsWithin(i int, rows []int32) []int32
	// appendTexts gives a column of texts to the builder, and sets the bits of its NULLs.
	appendTexts(i int, rows []int32)
}

// runColumn has the values of a column for the rows of a run.
type runColumn struct {
	ints   []int64
	floats []float64
	parse  func(p []byte) (int64, bool) // of integers in any form
	limit  int64                        // of a DECIMAL
}

// room lets the next n values be read where the builder will have them. Those of rows that are skipped are overwritten.
func (c *runColumn) room(r *fieldReader, n int) {
	if r.ints != nil {
		c.ints = r.ints.Room(n)
	}
	if r.doubles != nil {
		c.floats = r.doubles.Room(n)
	}
}

func (s *Scan) inBulk(file analyses.File, b *batch.Builder, most int) inBulk {
	x := inBulk{readers: s.fieldReaders(file, b), masks: s.masks(b), rows: make([]int32, most), zeros: make([]int64, most)}
	x.columns = make([]runColumn, len(x.readers))
	for i := range x.readers {
		if x.readers[i].bounded {
			x.bounded++
		}
	}
	x.bits = make([][]int64, len(x.masks))
	if s.Apart {
		x.missing = b.Int(s.missingColumn())
	}
	return x
}

// read reads the first rows of a run of n, and gives those that are not skipped to the builder. It returns how many it has read, and which
// ones are in the builder.
func (x *inBulk) read(of runFields, n int) (read int, rows []int32) {
	read, rows = n, x.begin(n)
	for i := range x.readers {
		x.columns[i].room(&x.readers[i], len(rows))
		n := of.fill(i, rows)
		if n < len(rows) {
			read, rows = int(rows[n]), rows[:n]
		}
		switch {
		case i >= x.bounded:
		case x.readers[i].texts != nil:
			rows = x.keep(i, rows, of.textsWithin(i, rows))
		default:
			rows = x.keep(i, rows, x.numbersWithin(i, len(rows)))
		}
	}
	if len(rows) == 0 {
		return read, nil
	}
	for i := range x.readers {
		r, c := &x.readers[i], &x.columns[i]
		switch {
		case r.doubles != nil:
			r.doubles.AppendAll(c.floats[:len(rows)])
		case r.ints != nil:
			r.ints.AppendAll(c.ints[:len(rows)])
		default:
			of.appendTexts(i, rows)
		}
	}
	x.end(len(rows))
	return read, rows
}

// begin returns the rows of a run, none of which is skipped yet.
func (x *inBulk) begin(n int) []int32 {
	rows := x.rows[:n]
	for k := range rows {
		rows[k] = int32(k)
	}
	for k, m := range x.masks {
		x.bits[k] = m.Room(n)[:n]
		clear(x.bits[k])
	}
	return rows
}

// end appends what the rows have beside their fields.
func (x *inBulk) end(n int) {
	for k, m := range x.masks {
		m.AppendAll(x.bits[k][:n])
	}
	if x.missing != nil {
		x.missing.AppendAll(x.zeros[:n])
	}
}

// numbersWithin returns the indices of the values in bounded column i that are not NULL and within the bounds.
func (x *inBulk) numbersWithin(i, n int) []int32 {
	r, c := &x.readers[i], &x.columns[i]
	bits := x.bits[r.column/nullsIn]
	low, high := r.within.Ends()
	x.kept = slices.Grow(x.kept[:0], n)[:n]
	kept, found := x.kept, 0
	switch {
	case low > high:
	case r.doubles != nil:
		for k, v := range c.floats[:n] {
			kept[found] = int32(k)
			if eval.SortableDouble(v)-low <= high-low && bits[k] == 0 {
				found++
			}
		}
	default:
		for k, v := range c.ints[:n] {
			kept[found] = int32(k)
			if uint64(v)^1<<63-low <= high-low && bits[k] == 0 {
				found++
			}
		}
	}
	return kept[:found]
}

// keep keeps only the rows with some indices, and the values that bounded column i and those before it have for them.
func (x *inBulk) keep(i int, rows, kept []int32) []int32 {
	clear(x.bits[x.readers[i].column/nullsIn][:len(rows)]) // of the rows that are kept, none is NULL in a bounded column
	if len(kept) == len(rows) {
		return rows
	}
	for k, at := range kept {
		rows[k] = rows[at]
	}
	for before := range x.columns[:i+1] {
		c := &x.columns[before]
		keep(c.ints, kept)
		keep(c.floats, kept)
	}
	return rows[:len(kept)]
}

// keep moves the values at some indices, in ascending order, to the beginning.
func keep[T any](values []T, kept []int32) {
	if len(values) == 0 {
		return
	}
	for k, at := range kept {
		values[k] = values[at]
	}
}

// runReader reads runs of CSV (analyses.Analysis.NewRunParser).
type runReader struct {
	inBulk
	numbers csv.Numbers
	run     *csv.Run
}

// Runs returns the function that reads the rows of a file many at once, nil if rows have to be read one by one.
func (s *Scan) Runs(file analyses.File, b *batch.Builder) func(run *csv.Run) (read, taken int) {
	if s.Table.Nulls != nil || s.Line || file.Cells != nil {
		return nil
	}
	x := &runReader{inBulk: s.inBulk(file, b, csv.MaxRun)}
	for i := range x.readers {
		r, c := &x.readers[i], &x.columns[i]
		if c.parse = parserOf(s.Table.Columns[s.Wanted[r.column]].Type); r.usual == types.Decimal {
			c.limit = field.Powers[r.decimal.Precision]
		}
	}
	return func(run *csv.Run) (read, taken int) {
		x.run = run
		read, rows := x.read(x, run.Rows())
		return read, len(rows)
	}
}

// fill implements runFields.
func (x *runReader) fill(i int, rows []int32) int {
	r, c, run := &x.readers[i], &x.columns[i], x.run
	if r.texts != nil && !run.Quoted() {
		return len(rows)
	}
	data := run.Data()
	from, to := run.Column(r.column, rows)
	if r.texts != nil {
		return len(from)
	}
	c.ints, c.floats = c.ints[:0], c.floats[:0]
	for {
		n := 0
		switch {
		case r.doubles != nil:
			c.floats = x.numbers.Floats(c.floats, data, from[len(c.floats):], to[len(c.floats):])
			n = len(c.floats)
		case r.usual == types.Decimal:
			c.ints = x.numbers.Decimals(c.ints, data, from[len(c.ints):], to[len(c.ints):], int(r.decimal.Scale), c.limit)
			n = len(c.ints)
		case r.usual == types.BigInt:
			c.ints = x.numbers.Ints(c.ints, data, from[len(c.ints):], to[len(c.ints):])
			n = len(c.ints)
		case r.usual == types.Date:
			c.ints = x.numbers.Dates(c.ints, data, from[len(c.ints):], to[len(c.ints):])
			n = len(c.ints)
		case r.usual == types.Timestamp:
			c.ints = x.numbers.DateTimes(c.ints, data, from[len(c.ints):], to[len(c.ints):], 1_000_000)
			n = len(c.ints)
		default:
			n = len(c.ints)
		}
		if n == len(from) {
			return n
		}
		if !x.fillOne(r, c, data[from[n]:to[n]], n) {
			return n
		}
	}
}

// fillOne reads a field in any form. It returns false for one that rejects its row.
func (x *runReader) fillOne(r *fieldReader, c *runColumn, p []byte, n int) (ok bool) {
	var double float64
	var v int64
	switch {
	case len(p) == 0:
		x.bits[r.column/nullsIn][n] |= 1 << (r.column % nullsIn)
	case r.doubles != nil:
		if double, ok = field.Double(p); !ok {
			return false
		}
	default:
		if v, ok = c.parse(p); !ok {
			return false
		}
	}
	if r.doubles != nil {
		c.floats = append(c.floats, double)
	} else {
		c.ints = append(c.ints, v)
	}
	return true
}

// appendTexts implements runFields.
func (x *runReader) appendTexts(i int, rows []int32) {
	r := &x.readers[i]
	from, to := x.run.Column(r.column, rows)
	bits, shift := x.bits[r.column/nullsIn], r.column%nullsIn
	for k, f := range from {
		null := int64(0)
		if to[k] == f {
			null = 1
		}
		bits[k] |= null << shift
	}
	r.texts.AppendAll(x.run.Data(), from, to)
}

// textsWithin implements runFields.
func (x *runReader) textsWithin(i int, rows []int32) []int32 {
	r, kept := &x.readers[i], x.kept[:0]
	from, to := x.run.Column(r.column, rows)
	for k, f := range from {
		if p := x.run.Data()[f:to[k]]; len(p) > 0 && r.within.Text(p) {
			kept = append(kept, int32(k))
		}
	}
	x.kept = kept
	return kept
}
