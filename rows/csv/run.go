package csv

import (
	"bytes"
	"math/bits"
)

// MaxRun is how many rows a [Run] has at most: enough for what a run costs to be little per row, and few enough for the values of its
// columns to stay in the first-level cache.
const MaxRun = 256

// Run is consecutive rows of a chunk, each of them in the usual form: not empty, and with as many fields as the header has columns. Its
// fields are read column by column, by loops without calls, in place of row by row. A Run is valid until the scanner's next call of Run or
// Next.
type Run struct {
	data    []byte // the window, and up to eight bytes before it
	lead    int    // how many bytes of data are before the window
	rows    int
	quoted  bool // the window has quotes
	first   int  // index of the first row's first separator
	start   [MaxRun + 1]uint16
	end     [MaxRun]uint16
	from    [MaxRun]uint32
	to      [MaxRun]uint32
	pos     []uint16
	fields  int // of a row
	sources []int
}

// Run returns the next rows, no more than most. It does not move past them: [Scanner.Took] does. It returns nil if there is no row, or if
// the next one is not in the usual form; [Scanner.Next] reads that one.
func (s *Scanner) Run(most int) *Run {
	x := &s.index
	if s.at >= len(s.data) || s.mapping.mark.records {
		return nil
	}
	if s.at >= x.end || x.sound && x.lineFeed(s.at) < 0 {
		x.cover(s.data, s.at, s.comma)
	}
	if !x.sound || x.manyLines {
		return nil
	}
	if s.run == nil {
		s.run = &Run{}
	}
	r := s.run
	r.lead = min(8, x.base)
	r.data, r.first, r.pos = s.data[x.base-r.lead:x.end], x.at, x.pos[:x.n+1]
	r.fields, r.sources, r.quoted = s.mapping.columns, s.mapping.sources, x.quoted
	if r.find(x, s.at-x.base, min(most, MaxRun)); r.rows == 0 {
		return nil
	}
	return r
}

// Took moves past the first n rows of the run.
func (s *Scanner) Took(n int) {
	s.at = s.index.base + int(s.run.start[n])
	s.index.at += n * (s.mapping.columns - 1)
	s.seen += uint64(n)
}

// find finds the rows from a position in the window on.
func (r *Run) find(x *index, at, most int) {
	lines := &x.lines
	data := r.data[r.lead:]
	r.start[0] = uint16(at)
	usual, j, block := r.fields-1, r.first, at/64
	last := (len(data) - 1) / 64
	mask := lines[block%len(lines)] >> (at % 64) << (at % 64)
	for r.rows = 0; r.rows < most; r.rows++ {
		for ; mask == 0; mask = lines[block%len(lines)] {
			if block++; block > last {
				return
			}
		}
		end := 64*block + bits.TrailingZeros64(mask)
		mask &= mask - 1
		// The row has exactly the usual separators: the last of them is in the row, and the next one is not.
		if j += usual; j >= len(r.pos) || int(r.pos[j]) < end || usual > 0 && int(r.pos[j-1]) >= end {
			return
		}
		next := end + 1
		if end = withoutCR(data, at, end); end == at {
			return
		}
		r.end[r.rows&(MaxRun-1)], r.start[r.rows+1] = uint16(end), uint16(next)
		at = next
	}
}

// Rows returns the number of rows, at least 1.
func (r *Run) Rows() int { return r.rows }

// Data is what the positions of fields are positions in.
func (r *Run) Data() []byte { return r.data }

// Column returns where the fields of column i of the mapping are in Data, for some of the run's rows, in ascending order. A field is empty
// if the file lacks the column. The result is shorter than rows if the field of the row behind it is an empty text in quotes or has doubled
// quotes; such a row has to be read by Next. The result is valid until the next call.
func (r *Run) Column(i int, rows []int32) (from, to []uint32) {
	if from, to = r.column(i, rows); r.quoted {
		return r.unwrapped(from, to)
	}
	return from, to
}

// Leading is Column for the first n rows of the run.
func (r *Run) Leading(i, n int) (from, to []uint32) {
	if from, to = r.leading(r.sources[i], n); r.quoted {
		return r.unwrapped(from, to)
	}
	return from, to
}

// Quoted reports whether Column may return less than it is asked for.
func (r *Run) Quoted() bool { return r.quoted }

// unwrapped takes the quotes off fields.
func (r *Run) unwrapped(from, to []uint32) (_, _ []uint32) {
	for k, f := range from {
		t := to[k]
		if f == t || r.data[f] != quote {
			continue
		}
		if f++; f+1 >= t || bytes.IndexByte(r.data[f:t-1], quote) >= 0 {
			return from[:k], to[:k]
		}
		from[k], to[k] = f, t-1
	}
	return from, to
}

func (r *Run) column(i int, rows []int32) (from, to []uint32) {
	source, usual := r.sources[i], r.fields-1
	if len(rows) == r.rows || source < 0 { // all rows have to be 0, 1, 2, …
		return r.leading(source, len(rows))
	}
	from, to = r.from[:len(rows)], r.to[:len(rows)]
	lead := uint32(r.lead)
	if source == 0 {
		for k, row := range rows {
			from[k] = lead + uint32(r.start[row])
		}
	} else {
		for k, row := range rows {
			from[k] = lead + uint32(r.pos[r.first+int(row)*usual+source-1]) + 1
		}
	}
	if source == usual {
		for k, row := range rows {
			to[k] = lead + uint32(r.end[row])
		}
	} else {
		for k, row := range rows {
			to[k] = lead + uint32(r.pos[r.first+int(row)*usual+source])
		}
	}
	return from, to
}

// leading is Leading without regard to quotes. A source below 0 is a column that the file lacks.
func (r *Run) leading(source, n int) (from, to []uint32) {
	from, to = r.from[:n], r.to[:n]
	lead, usual := uint32(r.lead), r.fields-1
	if source < 0 {
		clear(from)
		clear(to)
		return from, to
	}
	pos, at := r.pos, r.first+source-1 // of the separator before the first row's field
	if source > 0 && source < usual {
		for k := range from {
			two := pos[at : at+2]
			from[k], to[k] = lead+uint32(two[0])+1, lead+uint32(two[1])
			at += usual
		}
		return from, to
	}
	if source == 0 {
		for k, start := range r.start[:n] {
			from[k] = lead + uint32(start)
		}
	} else {
		for k := range from {
			from[k] = lead + uint32(pos[at+k*usual]) + 1
		}
	}
	if source == usual {
		for k, end := range r.end[:n] {
			to[k] = lead + uint32(end)
		}
	} else {
		for k := range to {
			to[k] = lead + uint32(pos[at+k*usual+1])
		}
	}
	return from, to
}
