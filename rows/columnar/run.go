package columnar

import (
	"encoding/binary"
	"math"
	"slices"

	"posta.dev/posta/rows/internal/fixed"
)

// MaxRun is how many rows a [Run] has at most: enough for what a run costs to be little per row, and few enough for the values of some
// columns to stay in the first-level cache.
const MaxRun = 1024

// Run is consecutive rows of a chunk, whose values are read column by column, by loops without calls. Columns are named by their index in
// [Scanner.Fields], and rows by their index in the run, in ascending order. A Run is valid until the scanner's next call of Run or Next.
type Run struct {
	s     *Scanner
	first int // row of the chunk
	rows  int

	numbers []int64
	codes   []uint32
	nulls   []byte
	from    []uint32
	to      []uint32
	texts   []byte
}

// Run returns the next rows, no more than most. It does not move past them: [Scanner.Took] does. It returns nil if there is no row.
func (s *Scanner) Run(most int) *Run {
	n := min(s.rows-s.row-1, most, MaxRun)
	if n <= 0 {
		return nil
	}
	if s.run == nil {
		s.run = &Run{s: s}
	}
	s.run.first, s.run.rows = s.row+1, n
	return s.run
}

// Took moves past the first n rows of the run.
func (s *Scanner) Took(n int) {
	for _, source := range s.mapping.Sources() {
		if source < 0 {
			continue
		}
		if c := &s.columns[source]; c.kind == text {
			c.next += int(sumOf(c.lengths, c.width, s.row+1, n))
		}
	}
	s.row += n
}

// Rows returns the number of rows, at least 1.
func (r *Run) Rows() int { return r.rows }

// Line returns the line of the first row.
func (r *Run) Line() uint64 { return r.s.line + uint64(r.first) }

// Chunk returns a number that runs of the same chunk have in common, and runs of other chunks of the scanner do not have.
func (r *Run) Chunk() uint64 { return r.s.chunk }

// of returns a column of the chunk; nil if the file lacks it.
func (r *Run) of(i int) *column {
	if source := r.s.mapping.Sources()[i]; source >= 0 {
		return &r.s.columns[source]
	}
	return nil
}

// Nulls returns 1 for each of some rows whose value is NULL, and 0 for the others; nil if none is. It is valid until the next call.
func (r *Run) Nulls(i int, rows []int32) []byte {
	c := r.of(i)
	r.nulls = slices.Grow(r.nulls[:0], len(rows))[:len(rows)]
	some := byte(0)
	switch {
	case c == nil || c.kind == null:
		for k := range r.nulls {
			r.nulls[k] = 1
		}
		return r.nulls
	case c.kind == dict:
		for k, code := range r.Codes(i, rows) {
			r.nulls[k] = 0
			if code == 0 {
				r.nulls[k], some = 1, 1
			}
		}
	case len(c.nulls) > 0:
		for k, row := range rows {
			at := r.first + int(row)
			r.nulls[k] = c.nulls[at/8] >> (at % 8) & 1
			some |= r.nulls[k]
		}
	}
	if some == 0 {
		return nil
	}
	return r.nulls
}

// Ints appends the values of some rows of a column that [Cells.Column] was asked for. It stops before the first value that a cell would not
// have. The value of NULL is 0.
func (r *Run) Ints(dst []int64, i int, rows []int32) []int64 {
	c, ask := r.of(i), r.asked(i)
	from := len(dst)
	dst = slices.Grow(dst, len(rows))[:from+len(rows)]
	out := dst[from:]
	if c == nil || c.kind == null {
		clear(out)
		return dst
	}
	if c.kind == dict && len(c.cells) > 0 {
		for k, code := range r.Codes(i, rows) {
			if out[k] = 0; code > 0 {
				cell := &c.cells[code-1]
				if !cell.OK {
					return dst[:from+k]
				}
				out[k] = cell.Int
			}
		}
		return dst
	}
	power, low, high, ok := ask.multiple(c.kind)
	if !ok {
		return dst[:from+r.cells(i, c, ask, rows, func(k int, cell *Cell) { out[k] = cell.Int })]
	}
	r.decode(out, c, rows)
	if nulls := r.Nulls(i, rows); nulls != nil {
		for k := range out {
			out[k] &= int64(nulls[k]) - 1
		}
	}
	if power == 1 && low == math.MinInt64 && high == math.MaxInt64 {
		return dst
	}
	for k, v := range out {
		if uint64(v)-uint64(low) > uint64(high)-uint64(low) {
			return dst[:from+k]
		}
		out[k] = v * power
	}
	return dst
}

// multiple reports whether all values of a kind that are from low to high are known as themselves times power. 0 is one of these values.
func (a *Ask) multiple(kind Kind) (power, low, high int64, ok bool) {
	if a.Kind.decimal() {
		wanted, _ := a.Kind.scale()
		scale, ok := kind.scale()
		if !ok || scale > wanted {
			return 0, 0, 0, false
		}
		power = powers[wanted-scale]
		return power, -a.Most / power, a.Most / power, true
	}
	power, low, high = 1, math.MinInt64, math.MaxInt64
	switch kind {
	case Days:
		low, high = firstDay, lastDay
	case Micros:
		low, high = firstDay*microsPerDay, (lastDay+1)*microsPerDay-1
	case Bool:
		low, high = 0, 1
	}
	return power, low, high, a.Kind == kind && kind.integer()
}

// Floats does for columns of floats what Ints does.
func (r *Run) Floats(dst []float64, i int, rows []int32) []float64 {
	c, ask := r.of(i), r.asked(i)
	from := len(dst)
	dst = slices.Grow(dst, len(rows))[:from+len(rows)]
	out := dst[from:]
	switch {
	case c == nil || c.kind == null:
		clear(out)
	case c.kind == Float && ask.Kind == Float && len(c.nulls) == 0:
		for k, v := range r.raw(c, rows) {
			f := math.Float64frombits(uint64(v))
			if out[k] = f; f-f != 0 { // NaN or infinite
				return dst[:from+k]
			}
		}
	case c.kind == Int && ask.Kind == Float && len(c.nulls) == 0:
		for k, v := range r.raw(c, rows) {
			out[k] = float64(v)
		}
	default:
		return dst[:from+r.cells(i, c, ask, rows, func(k int, cell *Cell) { out[k] = cell.Float })]
	}
	return dst
}

// cells calls put with the cell of each row, up to one whose value is not known, and returns how many are. That of NULL is zero.
func (r *Run) cells(i int, c *column, ask *Ask, rows []int32, put func(k int, cell *Cell)) int {
	var none, cell Cell
	switch c.kind {
	case dict:
		if len(c.cells) == 0 {
			return 0
		}
		for k, code := range r.Codes(i, rows) {
			of := &none
			if code > 0 {
				if of = &c.cells[code-1]; !of.OK {
					return k
				}
			}
			put(k, of)
		}
	case text:
		if ask.Parse == nil {
			return 0
		}
		nulls := r.Nulls(i, rows)
		data, from, to := r.Texts(i, rows)
		for k := range rows {
			if cell = none; nulls == nil || nulls[k] == 0 {
				if cell, cell.OK = ask.Parse(data[from[k]:to[k]]); !cell.OK {
					return k
				}
			}
			put(k, &cell)
		}
	default:
		nulls := r.Nulls(i, rows)
		for k, v := range r.raw(c, rows) {
			if cell = none; nulls == nil || nulls[k] == 0 {
				if !cell.typed(ask, c.kind, v) {
					return k
				}
			}
			put(k, &cell)
		}
	}
	return len(rows)
}

// asked returns what was asked for a column.
func (r *Run) asked(i int) *Ask {
	if r.s.asks == nil {
		return &Ask{}
	}
	return &r.s.asks[i].Ask
}

// Dictionary returns how many entries a column of texts has, if it has a dictionary.
func (r *Run) Dictionary(i int) (entries int, ok bool) {
	if c := r.of(i); c != nil && c.kind == dict {
		return len(c.ends) - 1, true
	}
	return 0, false
}

// Entry returns the text of a code of a column with a dictionary; nil for NULL.
func (r *Run) Entry(i int, code uint32) []byte {
	c := r.of(i)
	if code == 0 {
		return nil
	}
	return field(c.bytes, int(c.ends[code-1]), int(c.ends[code]-c.ends[code-1]))
}

// Codes returns the codes of some rows of a column with a dictionary: 0 for NULL, else 1 and more. They are valid until the next call for
// any column.
func (r *Run) Codes(i int, rows []int32) []uint32 {
	c := r.of(i)
	r.codes = slices.Grow(r.codes[:0], len(rows))[:len(rows)]
	readNumbers(r, r.codes, c, 0, rows)
	return r.codes
}

// Texts returns where the texts of some rows of a column without a dictionary are in data: data[from[k]:to[k]] is that of rows[k]. That of
// NULL is empty. They are valid until the next call for any column.
func (r *Run) Texts(i int, rows []int32) (data []byte, from, to []uint32) {
	r.from, r.to = slices.Grow(r.from[:0], len(rows))[:len(rows)], slices.Grow(r.to[:0], len(rows))[:len(rows)]
	c := r.of(i)
	switch {
	case c == nil || c.kind == null:
		clear(r.from)
		clear(r.to)
		return nil, r.from, r.to
	case c.kind != text:
		nulls := r.Nulls(i, rows)
		r.texts = r.texts[:0]
		for k, v := range r.raw(c, rows) {
			r.from[k] = uint32(len(r.texts))
			if nulls == nil || nulls[k] == 0 {
				r.texts = appendValue(r.texts, c.kind, v)
			}
			r.to[k] = uint32(len(r.texts))
		}
		return r.texts, r.from, r.to
	}
	end, row := uint32(c.next), 0
	for k, want := range rows {
		if skipped := int(want) - row; skipped > 0 {
			end += uint32(sumOf(c.lengths, c.width, r.first+row, skipped))
		}
		r.from[k] = end
		end += uint32(at(c.lengths, c.width, r.first+int(want)))
		r.to[k], row = end, int(want)+1
	}
	if nulls := r.Nulls(i, rows); nulls != nil {
		for k, null := range nulls {
			if null != 0 {
				r.to[k] = r.from[k]
			}
		}
	}
	return c.bytes, r.from, r.to
}

// InChunk reports whether the texts of a column are in the chunk, so that they are valid as long as it is.
func (r *Run) InChunk(i int) bool {
	c := r.of(i)
	return c != nil && c.kind == text
}

// raw returns the values of some rows, in the form of their kind. It is valid until the next call.
func (r *Run) raw(c *column, rows []int32) []int64 {
	r.numbers = slices.Grow(r.numbers[:0], len(rows))[:len(rows)]
	r.decode(r.numbers, c, rows)
	return r.numbers
}

func (r *Run) decode(out []int64, c *column, rows []int32) { readNumbers(r, out, c, c.least, rows) }

// readNumbers reads the numbers that a column has for some rows.
func readNumbers[T fixed.Number](r *Run, out []T, c *column, least T, rows []int32) {
	if p := c.values[r.first*c.valueWidth:]; len(rows) == r.rows { // all rows have to be 0, 1, 2, …
		fixed.Read(out, p, least, c.valueWidth)
	} else {
		fixed.ReadSome(out, p, least, c.valueWidth, rows)
	}
}

// sumOf returns the sum of n lengths from a row on.
func sumOf(p []byte, width, row, n int) (sum uint64) {
	switch p = p[width*row : width*(row+n)]; width {
	case 1:
		for _, b := range p {
			sum += uint64(b)
		}
	case 2:
		for ; len(p) >= 2; p = p[2:] {
			sum += uint64(binary.LittleEndian.Uint16(p))
		}
	default:
		for ; len(p) >= 4; p = p[4:] {
			sum += uint64(binary.LittleEndian.Uint32(p))
		}
	}
	return sum
}
