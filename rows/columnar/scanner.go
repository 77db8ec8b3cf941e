package columnar

import (
	"encoding/binary"
	"fmt"
	"slices"

	"posta.dev/posta/rows/csv"
)

// Scanner takes the wanted fields out of a chunk, one row after the other, as [csv.Scanner] does. It is used again for the next chunk after Reset, by one
// goroutine at a time.
type Scanner struct {
	mapping csv.Mapping
	comma   byte
	line    uint64 // of the first row
	rows    int
	row     int // the current one

	columns []column // of the file
	asks    []asked  // by field; none: nobody has asked
	fields  [][]byte
	texts   []byte // of the typed values of the row
	spans   []int  // by field, where its text begins in texts; -1: it is not there
}

// asked is the ask for a field.
type asked struct {
	Ask
	cell *Cell
}

// maxCells is how many entries of dictionaries are parsed in advance. It bounds the memory, because a value takes more than its
// entry. Further entries are parsed in each row.
const maxCells = 1 << 18

// NewScanner returns a scanner for the chunks of a file: mapping says which columns are wanted.
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
	s.asks[i] = asked{ask, &Cell{}}
	return s.asks[i].cell
}

// Reset makes the scanner ready for a chunk, whose first row has the given line. Errors wrap [ErrMalformed].
func (s *Scanner) Reset(data []byte, firstLine uint64) error {
	s.line, s.rows, s.row = firstLine, 0, -1
	clear(s.fields)
	r := reader{p: data}
	if v := r.byte(); r.err == nil && v != version {
		return fmt.Errorf("%w: it is of version %d, and this program reads version %d: use the same version for the client and the nodes", ErrMalformed, v, version)
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

// Next goes on to the next row. It returns false after the last.
func (s *Scanner) Next() bool {
	s.row++
	if s.row >= s.rows {
		clear(s.fields)
		return false
	}
	s.texts = s.texts[:0]
	made := false
	for i, source := range s.mapping.Sources() {
		if source < 0 {
			continue
		}
		var cell *Cell
		var kind Kind
		if s.asks != nil {
			if a := &s.asks[i]; a.cell != nil {
				cell, kind = a.cell, a.Kind
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
				s.fields[i] = field(c.bytes, c.next, n)
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
				s.fields[i] = field(c.bytes, int(from), int(c.ends[code]-from))
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
			if cell != nil && cell.typed(kind, c.kind, v) {
				continue
			}
			// Texts move when they grow, so the fields are made after the loop.
			if !made {
				made = true
				for k := range s.spans {
					s.spans[k] = -1
				}
			}
			s.spans[i] = len(s.texts)
			s.texts = appendValue(s.texts, c.kind, v)
		}
	}
	if made {
		s.cut()
	}
	return true
}

// cut makes fields of the texts of typed values.
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

// field returns a text in the form of [csv.Scanner.Fields]: an empty text has room for a byte, see [csv.EmptyQuoted].
func field(p []byte, from, n int) []byte {
	if n == 0 {
		return empty[:0:1]
	}
	return p[from : from+n : from+n]
}

var empty = []byte{0}

// Fields returns the wanted fields of the row, as [csv.Scanner.Fields] does. If a column's cell is OK, its field is undefined.
func (s *Scanner) Fields() [][]byte { return s.fields }

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

// column is a column of the chunk. Fields that its kind does not need are empty.
type column struct {
	kind    Kind
	rows    int
	nulls   []byte
	lengths []byte // text
	width   int    // of lengths
	bytes   []byte
	next    int // text: where that of the row begins

	ends       []uint32 // dict: entry k is bytes[ends[k]:ends[k+1]]
	values     []byte   // codes of dict, or values
	valueWidth int
	least      int64
	cells      []Cell // dict: what Parse makes of each entry
	texts      uint64 // dict: bytes of the entries, each as often as rows refer to it

	asked, begins int // text: the row that was asked for last, and where its text begins
}

func (c *column) isNull(row int) bool {
	return len(c.nulls) > 0 && c.nulls[row/8]>>(row%8)&1 != 0
}

// text returns the text of any row, nil if it is NULL. It is slow.
func (c *column) text(row int) []byte {
	if c.isNull(row) {
		return nil
	}
	switch c.kind {
	case null:
		return nil
	case text:
		if row < c.asked {
			c.asked, c.begins = 0, 0
		}
		for ; c.asked < row; c.asked++ {
			c.begins += int(at(c.lengths, c.width, c.asked))
		}
		return field(c.bytes, c.begins, int(at(c.lengths, c.width, row)))
	case dict:
		code := at(c.values, c.valueWidth, row)
		if code == 0 {
			return nil
		}
		return field(c.bytes, int(c.ends[code-1]), int(c.ends[code]-c.ends[code-1]))
	}
	return appendValue(nil, c.kind, c.least+int64(at(c.values, c.valueWidth, row)))
}

// reset checks the body of a column, so that no row can reach outside of it.
func (c *column) reset(kind Kind, body []byte, rows int) error {
	*c = column{kind: kind, rows: rows, ends: c.ends[:0], cells: c.cells[:0]}
	r := reader{p: body}
	switch kind {
	case null:
	case text:
		c.nulls = r.nulls(rows)
		var sum uint64
		if c.lengths, c.width, sum = r.lengths(uint64(rows)); r.err == nil {
			c.bytes = r.take(sum)
		}
	case dict:
		entries := r.uvarint()
		if entries > uint64(rows) {
			r.fail("it has %d entries for %d rows", entries, rows)
		}
		lengths, width, sum := r.lengths(entries)
		if r.err != nil {
			break
		}
		c.bytes = r.take(sum)
		c.values, c.valueWidth = r.fixed(rows, 4)
		if r.err != nil {
			break
		}
		c.ends = slices.Grow(c.ends, int(entries)+1)
		end := uint32(0)
		c.ends = append(c.ends, 0)
		for i := range int(entries) {
			end += uint32(at(lengths, width, i))
			c.ends = append(c.ends, end)
		}
		for i := range rows {
			code := at(c.values, c.valueWidth, i)
			if code > entries {
				return fmt.Errorf("%w: row %d refers to entry %d of %d", ErrMalformed, i+1, code, entries)
			}
			if code > 0 {
				c.texts += uint64(c.ends[code] - c.ends[code-1])
			}
		}
	case Int, Micros, Days:
		c.nulls = r.nulls(rows)
		if p := r.take(8); r.err == nil {
			c.least = int64(binary.LittleEndian.Uint64(p))
		}
		c.values, c.valueWidth = r.fixed(rows, 8)
	case Float:
		c.nulls = r.nulls(rows)
		c.values, c.valueWidth = r.take(8*uint64(rows)), 8
	default:
		return fmt.Errorf("%w: its values are of a kind that is not known (%d)", ErrMalformed, kind)
	}
	if r.err == nil && len(r.p) > 0 {
		r.fail("%d bytes are left behind its values", len(r.p))
	}
	return r.err
}

// parse parses each entry once.
func (c *column) parse(parse func([]byte) (Cell, bool)) {
	for i := range len(c.ends) - 1 {
		v, ok := parse(field(c.bytes, int(c.ends[i]), int(c.ends[i+1]-c.ends[i])))
		v.OK = ok
		c.cells = append(c.cells, v)
	}
}

// at returns the number of a row in a column of numbers of width bytes.
func at(p []byte, width, row int) uint64 {
	switch width {
	case 0:
		return 0
	case 1:
		return uint64(p[row])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p[2*row:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p[4*row:]))
	}
	return binary.LittleEndian.Uint64(p[8*row:])
}

// reader reads the parts of a chunk. After an error it returns only zero values.
type reader struct {
	p   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
	r.p = nil
}

func (r *reader) byte() byte {
	if p := r.take(1); len(p) == 1 {
		return p[0]
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.p)
	if n <= 0 {
		r.fail("it is cut short")
		return 0
	}
	r.p = r.p[n:]
	return v
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.p)) {
		r.fail("it is cut short")
		return nil
	}
	p := r.p[:n]
	r.p = r.p[n:]
	return p
}

func (r *reader) nulls(rows int) []byte {
	switch some := r.byte(); {
	case some == 1:
		return r.take(uint64(rows+7) / 8)
	case some > 1:
		r.fail("it does not say whether there are NULLs")
	}
	return nil
}

// lengths reads so many lengths; sum is that of all of them.
func (r *reader) lengths(n uint64) (p []byte, width int, sum uint64) {
	width = int(r.byte())
	if width != 1 && width != 2 && width != 4 {
		r.fail("its lengths have %d bytes", width)
		return nil, 0, 0
	}
	if n > uint64(len(r.p)) { // so that the product below is small
		r.fail("it is cut short")
		return nil, 0, 0
	}
	p = r.take(n * uint64(width))
	if r.err == nil {
		for i := range int(n) {
			sum += at(p, width, i)
		}
	}
	return p, width, sum
}

// fixed reads a number for each row, with a width of at most most bytes.
func (r *reader) fixed(rows, most int) (p []byte, width int) {
	width = int(r.byte())
	if width > most || width != 0 && width != 1 && width != 2 && width != 4 && width != 8 {
		r.fail("its numbers have %d bytes", width)
		return nil, 0
	}
	return r.take(uint64(rows * width)), width
}
