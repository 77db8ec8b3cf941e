package parquet

import (
	"fmt"
	"io"
	"math/bits"

	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// rowsOf is the additional state of a cutter whose chunks hold columns.
type rowsOf struct {
	writer *columnar.Writer
	ahead  *columnar.Writer // the first row of the next chunk, if there is one
}

// NewColumns is [NewCutter] for chunks that hold columns.
//
// The ends of chunks depend on the rows, on the limit of a record, and on the largest power of 2 within the limit of a chunk, which the
// header contains. A client that resumes an upload has to cut the same chunks again: it finds the limit whose header is the one that was
// sent, and does not change the limits while it cuts.
func NewColumns(in io.ReaderAt, size int64, columns []csv.Column, comma byte, chunkBytes, maxRecord int) (*Cutter, error) {
	c, err := newCutter(in, size, columns, comma, chunkBytes, maxRecord, true)
	if err != nil {
		return nil, err
	}
	c.rows = &rowsOf{columnar.NewWriter(c.fields), columnar.NewWriter(c.fields)}
	return c, nil
}

// Columns reports whether chunks hold columns.
func (c *Cutter) Columns() bool { return c.rows != nil }

// growth is the factor by which the last rows may enlarge a chunk. They add their own bytes, and one text among them turns the numbers of
// its column into texts.
const growth = 8

// valueRoom is an upper bound of the bytes of a value in a short column.
const valueRoom = 256

// exponent returns e such that a chunk is full at 2^e bytes.
func (c *Cutter) exponent() int {
	return min(bits.Len(uint(max(1, min(c.chunkBytes, c.maxRecord/growth))))-1, csv.MaxExponent)
}

// fillColumns is fill for chunks that hold columns.
func (c *Cutter) fillColumns(chunk []byte) ([]byte, error) {
	w := c.rows.writer
	w.Reset()
	if c.rows.ahead.Rows() > 0 {
		c.rows.ahead.MoveLast(w)
		c.rows.ahead.Reset()
	}
	enough := 1 << c.exponent()
	atOnce := min(takeRows, max(1, enough/(valueRoom*c.fields)))
	for w.Rows() == 0 || w.Size() < enough && w.Rows() < columnar.MaxRows {
		if c.left == 0 {
			more, err := c.nextGroup(w.Rows() > 0)
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			continue
		}
		n := c.atOnce(min(atOnce, columnar.MaxRows-w.Rows()))
		for i, column := range c.columns {
			if err := column.take(n, w.Column(i)); err != nil {
				return nil, err
			}
		}
		for i := len(c.columns); i < c.fields; i++ { // rows are the same as in CSV, see csv.Alone
			for range n {
				w.Column(i).AppendNull()
			}
		}
		c.left -= int64(n)
		c.Done += int64(n)
		if n > 1 || w.Size() <= c.maxRecord {
			continue
		}
		if w.Rows() > 1 {
			w.MoveLast(c.rows.ahead)
			if c.rows.ahead.Size() <= c.maxRecord {
				break
			}
		}
		return nil, fmt.Errorf("%w: row %d has more than %d bytes", csv.ErrRecordTooLong, c.Done, c.maxRecord)
	}
	if w.Rows() == 0 {
		return chunk, nil
	}
	return w.Append(chunk), nil
}

// nextGroup goes past a row group that is left out, or begins the next one. It returns false at the end of the file. It also returns false
// if the chunk has rows and the next row group is left out, because the rows of a chunk have consecutive line numbers.
func (c *Cutter) nextGroup(begun bool) (more bool, err error) {
	if c.group < len(c.groups) && c.groups[c.group].skip {
		if begun {
			return false, nil
		}
		c.Done += c.groups[c.group].rows
		c.line = uint64(c.Done) + 2
		c.group++
		return true, nil
	}
	return c.begin()
}

// atOnce returns how many rows, at most most, are taken of one column before the next. It is one if a value may be long.
func (c *Cutter) atOnce(most int) int {
	n := int(min(int64(most), c.left))
	for _, column := range c.columns {
		if n == 1 || !column.short() {
			return 1
		}
		n = int(min(int64(n), column.left))
	}
	return n
}
