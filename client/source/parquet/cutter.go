package parquet

import (
	"errors"
	"fmt"
	"io"

	"posta.dev/posta/rows/csv"
)

// Cutter turns a file into chunks of CSV, or of columns (see [NewColumns]). It has the methods of [csv.Cutter].
type Cutter struct {
	Done int64 // rows that were read, or left out

	shared  *shared
	leaves  int
	wanted  []int // leaves of columns
	given   []int // by needed column: its index in columns; -1 if the file lacks it
	names   [][]byte
	columns []*column
	fields  int // of a row: those of columns, and NULLs
	comma   byte

	chunkBytes int
	maxRecord  int
	room       int
	rows       *rowsOf // nil if chunks are CSV

	groups []groupOf
	group  int    // how many row groups were begun, or left out
	begun  bool   // the columns are in a row group
	left   int64  // rows of the row group that were not read yet
	line   uint64 // of the first row of the chunk
	ahead  []byte
	err    error
}

// groupOf is one row group.
type groupOf struct {
	rows  int64
	metas []chunkMeta
	skip  bool
}

// NewCutter opens a file of size bytes for the needed columns; comma separates the columns in its output.
func NewCutter(in io.ReaderAt, size int64, columns []csv.Column, comma byte, chunkBytes, maxRecord int) (c *Cutter, err error) {
	return newCutter(in, size, columns, comma, chunkBytes, maxRecord, false)
}

func newCutter(in io.ReaderAt, size int64, columns []csv.Column, comma byte, chunkBytes, maxRecord int, raw bool) (c *Cutter, err error) {
	defer guard(&err)
	if comma == 0 {
		comma = ','
	}
	memory := &budget{limit: MaxMemory}
	f, err := open(in, size, memory)
	if err != nil {
		return nil, err
	}
	root, leaves, err := tree(f.schema)
	if err != nil {
		return nil, err
	}
	places, err := root.findAll(columns)
	if err != nil {
		return nil, err
	}
	c = &Cutter{shared: &shared{file: f, memory: memory}, leaves: leaves, comma: comma}
	for i, p := range places {
		if p == nil {
			c.given = append(c.given, -1)
			continue
		}
		c.given = append(c.given, len(c.columns))
		column, err := newColumn(c.shared, p, comma, raw)
		if err != nil {
			return nil, err
		}
		c.names = append(c.names, []byte(columns[i].Name))
		c.columns = append(c.columns, column)
		c.wanted = append(c.wanted, p.leaf)
	}
	if len(c.names) == 0 {
		c.names = [][]byte{[]byte(columns[0].Name)} // only rows are counted, so its fields are NULL
	}
	c.fields = len(csv.Alone(c.names))
	err = f.eachGroup(c.wanted, leaves, func(_ int, g *group) error {
		n := len(g.columns) * 100
		if err := memory.charge(n); err != nil {
			return err
		}
		c.groups = append(c.groups, groupOf{rows: g.rows, metas: append([]chunkMeta(nil), g.columns...)})
		return nil
	})
	c.Limit(chunkBytes, maxRecord)
	return c, err
}

// Skip leaves out the row groups for which skips returns true: nothing of them is read. skips gets the statistics of the needed columns, in
// their order; they are valid during the call. The line numbers of the other rows do not change.
func (c *Cutter) Skip(skips func([]csv.Range) bool) (err error) {
	defer guard(&err)
	ranges := make([]csv.Range, len(c.given))
	f := c.shared.file
	return f.eachGroup(c.wanted, c.leaves, func(number int, g *group) error {
		for i, at := range c.given {
			ranges[i] = csv.Range{Kind: csv.KindNone}
			if at >= 0 {
				leaf := c.wanted[at]
				ranges[i] = c.columns[at].rangeOf(&g.stats[at], g.columns[at].values, leaf < len(f.orders) && f.orders[leaf])
			}
		}
		c.groups[number-1].skip = skips(ranges)
		return nil
	})
}

// errPanic is wrapped by errors that were panics. A panic means that this package has a bug, too.
var errPanic = errors.New("it is damaged in a way that was not foreseen")

// guard turns a panic of this package, or of one that unpacks pages, into an error, so that no file can end the program.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = damaged("reading it", "%w: %v", errPanic, p)
	}
}

// Rows returns how many rows the file has.
func (c *Cutter) Rows() int64 { return c.shared.file.rows }

// LeaveRoom does the same as that of [csv.Cutter].
func (c *Cutter) LeaveRoom(n int) { c.room = n }

// Limit does the same as that of [csv.Cutter].
func (c *Cutter) Limit(chunkBytes, maxRecord int) {
	c.chunkBytes = max(chunkBytes, 1)
	c.maxRecord = max(maxRecord, c.chunkBytes)
}

// Header returns the names of the columns, with a mark that says that line numbers count rows.
func (c *Cutter) Header() ([]byte, error) {
	names := csv.AppendRecord(nil, csv.Alone(c.names), c.comma)
	if c.rows != nil {
		return csv.MarkedColumnar(names, c.comma, c.exponent()), nil
	}
	return csv.Marked(names, c.comma, true), nil
}

// Next returns the next chunk, as [csv.Cutter.Next] does. The line of the file's first row is 2, as it is in a CSV file with a header.
func (c *Cutter) Next(buf []byte) (chunk []byte, firstLine uint64, err error) {
	defer guard(&err)
	if c.err != nil {
		return nil, 0, c.err
	}
	c.line = uint64(c.Done) + 2
	if len(c.ahead) > 0 || c.rows != nil && c.rows.ahead.Rows() > 0 {
		c.line--
	}
	if cap(buf) < c.room {
		buf = make([]byte, c.room, c.room+c.chunkBytes+c.chunkBytes/8)
	}
	chunk, c.err = c.fill(buf[:c.room])
	if c.err == nil && len(chunk) == c.room {
		c.err = io.EOF
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	return chunk, c.line, nil
}

func (c *Cutter) fill(chunk []byte) ([]byte, error) {
	if c.rows != nil {
		return c.fillColumns(chunk)
	}
	chunk = append(chunk, c.ahead...)
	c.ahead = c.ahead[:0]
	for len(chunk)-c.room < c.chunkBytes {
		for c.left == 0 {
			if c.group < len(c.groups) && c.groups[c.group].skip {
				if len(chunk) > c.room {
					return chunk, nil // the rows of a chunk have consecutive line numbers
				}
				c.Done += c.groups[c.group].rows
				c.line = uint64(c.Done) + 2
				c.group++
				continue
			}
			if more, err := c.begin(); err != nil || !more {
				return chunk, err
			}
		}
		before := len(chunk)
		var err error
		if chunk, err = c.row(chunk); err != nil {
			return nil, err
		}
		c.left--
		c.Done++
		if len(chunk)-c.room > c.chunkBytes && before > c.room {
			c.ahead = append(c.ahead, chunk[before:]...)
			return chunk[:before], nil
		}
	}
	return chunk, nil
}

// begin goes to the next row group; more is false at the end of the file.
func (c *Cutter) begin() (more bool, err error) {
	if c.begun {
		for _, column := range c.columns {
			if err := column.finish(); err != nil {
				return false, err
			}
		}
	}
	if c.group == len(c.groups) {
		return false, nil
	}
	g := &c.groups[c.group]
	c.group++
	if g.rows == 0 { // some writers give it columns without pages
		c.begun = false
		return true, nil
	}
	for i, column := range c.columns {
		if err := column.begin(c.group, g.rows, g.metas[i]); err != nil {
			return false, err
		}
	}
	c.left, c.begun = g.rows, true
	return true, nil
}

// row appends the next row.
func (c *Cutter) row(chunk []byte) ([]byte, error) {
	from := len(chunk)
	for i, column := range c.columns {
		if i > 0 {
			chunk = append(chunk, c.comma)
		}
		var err error
		if chunk, err = column.row(chunk); err != nil {
			return chunk, err
		}
		if len(chunk)-from > c.maxRecord {
			return nil, fmt.Errorf("%w: row %d has more than %d bytes", csv.ErrRecordTooLong, c.Done+1, c.maxRecord)
		}
	}
	if len(c.columns) < c.fields {
		chunk = append(chunk, c.comma) // see csv.Alone
	}
	return append(chunk, '\n'), nil
}
