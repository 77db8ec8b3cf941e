package csv

import (
	"fmt"
	"io"
)

// Continue returns a cutter that continues in the middle of a file. r gives the file from the beginning of a record, which has
// the given line and offset. header is that of the file, perhaps [Marked] with a separator. Without a mark the separator is
// comma, and 0 means ','. A mark that counts records is an error that wraps [ErrHeader], because such rows are not in a CSV
// file.
func Continue(r io.Reader, header []byte, comma byte, offset int64, line uint64, chunkBytes, maxRecord int) (*Cutter, error) {
	m, header, err := cutMark(header)
	if err == nil && m.records {
		err = fmt.Errorf("%w: its mark (byte 0x1e) counts records, and a file has lines", ErrHeader)
	}
	if err == nil && len(header) == 0 {
		err = fmt.Errorf("%w: it is empty", ErrHeader)
	}
	if err != nil {
		return nil, err
	}
	if m.comma != 0 {
		comma = m.comma
	}
	c := NewCutter(r, comma, chunkBytes, maxRecord)
	c.begun, c.header, c.offset, c.line = true, header, offset, line
	return c, c.err
}

// Place returns the offset of the next chunk's first byte, and its line, as [Continue] takes them. ok is false for a file
// whose carriage returns are turned into line feeds, because offsets of chunks then do not match the file.
func (c *Cutter) Place() (offset int64, line uint64, ok bool) { return c.offset, c.line, !c.turned }
