package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"posta.dev/posta/rows/csv"
)

// ErrColumn is wrapped by errors of [Cutter.Next]: no line has a column that is needed.
var ErrColumn = errors.New("a column is missing")

// MaxLine is the longest line that is read, in bytes.
const MaxLine = 16 << 20

// Cutter turns lines into chunks of CSV. It has the methods of [csv.Cutter].
type Cutter struct {
	kind       *Kind
	in         *bufio.Reader
	columns    []csv.Column
	comma      byte
	chunkBytes int
	maxRecord  int
	room       int

	row    Row
	fields [][]byte // of the row, by column
	has    []bool   // by column: the row has it
	end    byte     // of lines; 0 before the first
	line   uint64   // the last line that was read
	long   []byte   // a line that is longer than the reader's memory
	ahead  []byte   // the record of the last line, if it did not fit into the chunk before
	rows   uint64   // lines that are rows
	keys   []string // of the first of them
	seen   []bool   // by column: a line has it
	eof    bool
	err    error
}

// NewCutter returns a cutter for the needed columns; comma separates the columns in its output.
func (k *Kind) NewCutter(r io.Reader, columns []csv.Column, comma byte, chunkBytes, maxRecord int) *Cutter {
	if comma == 0 {
		comma = ','
	}
	c := &Cutter{kind: k, in: bufio.NewReaderSize(r, 256<<10), columns: columns, comma: comma, row: k.Row(columns),
		fields: make([][]byte, len(columns)), has: make([]bool, len(columns)), seen: make([]bool, len(columns))}
	c.Limit(chunkBytes, maxRecord)
	return c
}

// LeaveRoom does the same as that of [csv.Cutter].
func (c *Cutter) LeaveRoom(n int) { c.room = n }

// Limit does the same as that of [csv.Cutter].
func (c *Cutter) Limit(chunkBytes, maxRecord int) {
	c.chunkBytes = max(chunkBytes, 1)
	c.maxRecord = max(maxRecord, c.chunkBytes)
}

// Header returns the names of the columns, with a mark that says that each line is a record.
func (c *Cutter) Header() ([]byte, error) {
	names := make([][]byte, len(c.columns))
	for i := range c.columns {
		names[i] = []byte(c.columns[i].Name)
	}
	return csv.Marked(csv.AppendRecord(nil, csv.Alone(names), c.comma), c.comma, true), nil
}

// Next returns the next chunk, as [csv.Cutter.Next] does.
func (c *Cutter) Next(buf []byte) (chunk []byte, firstLine uint64, err error) {
	if c.err != nil {
		return nil, 0, c.err
	}
	chunk = append(buf[:0], make([]byte, c.room)...)
	chunk, firstLine, err = c.fill(chunk)
	if err != nil {
		c.err = err
		return nil, 0, err
	}
	return chunk, firstLine, nil
}

func (c *Cutter) fill(chunk []byte) ([]byte, uint64, error) {
	first := c.line + 1
	if len(c.ahead) > 0 {
		first = c.line
		chunk = append(chunk, c.ahead...)
		c.ahead = c.ahead[:0]
	}
	for !c.eof && len(chunk)-c.room < c.chunkBytes {
		line, err := c.readLine()
		if err != nil {
			return nil, 0, err
		}
		if line == nil {
			break
		}
		before := len(chunk)
		chunk = c.appendRow(chunk, line)
		if size := len(chunk) - before; size > c.maxRecord {
			return nil, 0, fmt.Errorf("%w: the one in line %d has more than %d bytes", csv.ErrRecordTooLong, c.line, c.maxRecord)
		}
		if len(chunk)-c.room > c.chunkBytes && before > c.room {
			c.ahead = append(c.ahead, chunk[before:]...)
			chunk = chunk[:before]
			break
		}
	}
	if len(chunk) > c.room {
		return chunk, first, nil
	}
	if err := c.missing(); err != nil {
		return nil, 0, err
	}
	return nil, 0, io.EOF
}

// readLine returns the next line, nil at the end of the file. It is valid until the next call.
func (c *Cutter) readLine() ([]byte, error) {
	c.long = c.long[:0]
	if c.end == 0 {
		c.end = c.findEnd()
	}
	for {
		part, err := c.in.ReadSlice(c.end)
		switch {
		case err == nil || err == io.EOF && len(part)+len(c.long) > 0:
			c.eof = err == io.EOF
			c.line++
			if len(c.long) > 0 {
				c.long = append(c.long, part...)
				part = c.long
			}
			if c.line == 1 {
				part = bytes.TrimPrefix(part, []byte("\xef\xbb\xbf"))
			}
			return part, nil
		case err == io.EOF:
			c.eof = true
			return nil, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("read %s after line %d: %w", c.kind.Reads, c.line, err)
		case len(c.long)+len(part) > MaxLine:
			return nil, fmt.Errorf("%w: line %d has more than %d bytes; is there one %s in each line?", csv.ErrRecordTooLong, c.line+1, MaxLine,
				c.kind.Unit)
		}
		c.long = append(c.long, part...)
	}
}

// appendRow appends one record for a line, also for an empty or wrong one, because lines are numbered by counting records.
func (c *Cutter) appendRow(chunk, line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	if len(line) == 0 || line[0] <= ' ' && len(bytes.Trim(line, " \t\r\n")) == 0 { // none of Unicode's white space
		return append(chunk, '\n')
	}
	clear(c.has)
	if err := c.row.Read(line, c.fields, c.has); err != nil {
		return append(chunk, csv.Unreadable(err.Error())...)
	}
	if c.rows++; c.rows == 1 {
		c.keys, _ = c.kind.Keys(line) // it has just been read
	}
	for i, is := range c.has {
		if is {
			c.seen[i] = true
		} else {
			c.fields[i] = nil
		}
	}
	if len(c.columns) == 1 {
		return append(csv.AppendField(chunk, c.fields[0], c.comma), c.comma, '\n')
	}
	return append(csv.AppendRecord(chunk, c.fields, c.comma), '\n')
}

// missing returns an error if there are rows, and a column that none of them has.
func (c *Cutter) missing() error {
	if c.rows == 0 {
		return nil
	}
	for i := range c.columns {
		if !c.seen[i] && !c.columns[i].Optional {
			return fmt.Errorf("%w: no line has %q; the first has %s", ErrColumn, c.columns[i].Name, list(c.keys))
		}
	}
	return nil
}

// list formats keys for an error.
func list(keys []string) string {
	const most, longest = 40, 40
	var b strings.Builder
	for i, k := range keys {
		if i == most {
			fmt.Fprintf(&b, ", … (%d in all)", len(keys))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if len(k) > longest {
			k = k[:longest] + "…"
		}
		fmt.Fprintf(&b, "%q", k)
	}
	return b.String()
}
