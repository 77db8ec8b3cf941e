package columnar

import (
	"fmt"

	"posta.dev/posta/rows/csv"
)

// Scanner takes the wanted fields out of a chunk, one row after the other, as [csv.Scanner] does. After Reset it can be used for the next
// chunk. Only one goroutine at a time may use it.
type Scanner struct {
	mapping csv.Mapping
	comma   byte
	line    uint64 // of the first row
	rows    int
	row     int // the current one
	chunk   uint64
	run     *Run

	columns []column // of the file
	asks    []asked  // by field; the zero value if nothing was asked
	fields  [][]byte
	quoted  csv.Bits // empty texts, which are no NULLs
	marked  bool     // there is one in the row
	texts   []byte   // texts of the row's typed values
	spans   []int    // by field, where its text begins in texts; -1: it has none there
}

// asked is what was asked for a field.
type asked struct {
	Ask
	cell *Cell
}

// maxCells bounds how many dictionary entries are parsed in advance, and so the memory, because a value takes more than its
// entry. Further entries are parsed for each row.
const maxCells = 1 << 18

// NewScanner returns a scanner for the chunks of a file. mapping says which columns are wanted.
func NewScanner(mapping csv.Mapping) *Scanner {
	s := &Scanner{mapping: mapping, comma: mapping.Separator(), columns: make([]column, mapping.Columns())}
	s.fields, s.spans = make([][]byte, len(mapping.Sources())), make([]int, len(mapping.Sources()))
	return s
}

// Cells returns the cells of the scanner. A parser must ask for them before the first row is read.
func (s *Scanner) Cells() *Cells { return &Cells{s} }

func (s *Scanner) ask(i int, ask Ask) *Cell {
	if s.asks == nil {
		s.asks = make([]asked, len(s.fields))
	}
	if s.asks[i].cell == nil {
		s.asks[i] = asked{ask, &Cell{}}
	}
	return s.asks[i].cell
}

// Reset prepares the scanner for a chunk whose first row has the given line. Errors wrap [ErrMalformed].
func (s *Scanner) Reset(data []byte, firstLine uint64) error {
	s.line, s.rows, s.row = firstLine, 0, -1
	s.chunk++
	clear(s.fields)
	s.quoted.Reset(len(s.fields))
	s.marked = false
	r := reader{p: data}
	if v := r.byte(); r.err == nil && v != version {
		return fmt.Errorf("%w: it is of version %d, and this program reads version %d: use the same version for the client and the nodes",
			ErrMalformed, v, version)
	}
	rows, columns := r.uvarint(), r.uvarint()
	switch {
	case r.err != nil:
		return r.err
	case rows == 0 || rows > MaxRows:
		return fmt.Errorf("%w: it says that it has %d rows; there are 1 to %d", ErrMalformed, rows, MaxRows)
	case columns != uint64(len(s.columns)):
		return fmt.Errorf("%w: it has %d columns, and the header has %d", ErrMalformed, columns, len(s.columns))
	case rows*columns > MaxCells:
		return fmt.Errorf("%w: it has %d rows of %d columns, which are more than %d values", ErrMalformed, rows, columns, MaxCells)
	}
	texts := uint64(0)
	for i := range s.columns {
		kind, body := Kind(r.byte()), r.take(r.uvarint())
		if r.err != nil {
			return r.err
		}
		if err := s.columns[i].reset(kind, body, int(rows)); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
		texts += s.columns[i].texts
	}
	if texts > MaxTexts {
		return fmt.Errorf("%w: its texts have %d bytes, at most %d are taken", ErrMalformed, texts, MaxTexts)
	}
	if len(r.p) > 0 {
		return fmt.Errorf("%w: %d bytes are left behind its columns", ErrMalformed, len(r.p))
	}
	s.rows = int(rows)
	left := maxCells
	for i, source := range s.mapping.Sources() {
		if source >= 0 && s.asks != nil && s.asks[i].Parse != nil && s.columns[source].kind == dict && len(s.columns[source].ends) <= left {
			s.columns[source].parse(s.asks[i].Parse)
			left -= len(s.columns[source].ends)
		}
	}
	return nil
}

// Next continues to the next row. It returns false after the last.
func (s *Scanner) Next() bool {
	s.row++
	if s.row >= s.rows {
		clear(s.fields)
		return false
	}
	s.texts = s.texts[:0]
	s.unmark()
	made := false
	for i, source := range s.mapping.Sources() {
		if source < 0 {
			continue
		}
		var cell *Cell
		var ask *Ask
		if s.asks != nil {
			if a := &s.asks[i]; a.cell != nil {
				cell, ask = a.cell, &a.Ask
			}
		}
		c := &s.columns[source]
		switch c.kind {
		case text:
			n := int(at(c.lengths, c.width, s.row))
			if cell != nil {
				cell.OK = false
			}
			if s.fields[i] = none; !c.isNull(s.row) {
				s.text(i, c.bytes, c.next, n)
			}
			c.next += n
		case dict:
			code := at(c.values, c.valueWidth, s.row)
			if cell != nil {
				if cell.OK = false; code > 0 && len(c.cells) > 0 {
					if *cell = c.cells[code-1]; cell.OK {
						continue
					}
				}
			}
			if s.fields[i] = none; code > 0 {
				from := c.ends[code-1]
				s.text(i, c.bytes, int(from), int(c.ends[code]-from))
			}
		case null:
			if s.fields[i] = none; cell != nil {
				cell.OK = false
			}
		default:
			s.fields[i] = none
			if c.isNull(s.row) {
				if cell != nil {
					cell.OK = false
				}
				continue
			}
			v := c.least + int64(at(c.values, c.valueWidth, s.row))
			if cell != nil && cell.typed(ask, c.kind, v) {
				continue
			}
			s.put(i, c.kind, v, !made)
			made = true
		}
	}
	if made {
		s.cut()
	}
	return true
}

// put writes the text of the value of a field; first says that it is the first one of its row. The texts may move when they grow, so the
// fields are made after the last one (cut).
func (s *Scanner) put(field int, kind Kind, v int64, first bool) {
	if first {
		for k := range s.spans {
			s.spans[k] = -1
		}
	}
	s.spans[field] = len(s.texts)
	s.texts = appendValue(s.texts, kind, v)
}

// cut makes fields from the texts of typed values.
func (s *Scanner) cut() {
	end := len(s.texts)
	for i := len(s.spans) - 1; i >= 0; i-- {
		if from := s.spans[i]; from >= 0 {
			s.fields[i] = s.texts[from:end:end]
			end = from
		}
	}
}

// none is the field of a NULL.
var none = []byte{}

// unmark empties the set of fields that are empty texts.
func (s *Scanner) unmark() {
	if s.marked {
		clear(s.quoted)
		s.marked = false
	}
}

// text makes a text field i.
func (s *Scanner) text(i int, p []byte, from, n int) {
	if n == 0 {
		s.quoted.Add(i)
		s.marked = true
	}
	s.fields[i] = field(p, from, n)
}

func field(p []byte, from, n int) []byte { return p[from : from+n : from+n] }

// Fields returns the wanted fields of the row, as [csv.Scanner.Fields] does. If a column's cell is OK, its field is undefined.
func (s *Scanner) Fields() [][]byte { return s.fields }

// Quoted returns which fields are empty texts, and not NULL. The set changes with each call of Next.
func (s *Scanner) Quoted() *csv.Bits { return &s.quoted }

// Err returns nil: a chunk that [Scanner.Reset] takes has no wrong rows.
func (s *Scanner) Err() error { return nil }

// Line returns the line of the row.
func (s *Scanner) Line() uint64 { return s.line + uint64(s.row) }

// Row returns the row as a record of CSV. It is slow.
func (s *Scanner) Row() []byte {
	fields := make([][]byte, len(s.columns))
	for i := range s.columns {
		fields[i] = s.columns[i].text(s.row)
	}
	var record []byte
	for i, p := range fields {
		if i > 0 {
			record = append(record, s.comma)
		}
		record = csv.AppendField(record, p, s.comma)
	}
	return record
}
