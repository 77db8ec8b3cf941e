package lines

import (
	"bytes"
	"io"
)

// blanks are what may stand before the first object of a file: white space, and a byte order mark.
const blanks = " \t\r\n\ufeff"

// End returns the byte that ends the lines of a file: a line feed, behind a carriage return or not, or a carriage return alone. head is
// the file's beginning; known is false if more of it is needed. A carriage return may also be white space in a row, so it ends lines
// only if a whole row is before the first one.
func (k *Kind) End(head []byte) (end byte, known bool) {
	head = bytes.TrimLeft(head, blanks)
	i := bytes.IndexAny(head, "\r\n")
	switch {
	case i < 0 || head[i] == '\r' && i+1 == len(head):
		return '\n', false
	case head[i] == '\n' || head[i+1] == '\n':
		return '\n', true
	}
	if _, err := k.Keys(head[:i]); err != nil {
		return '\n', true
	}
	return '\r', true
}

// findEnd returns what ends the file's lines. It waits for no more of the file than it needs, because it may be a pipe.
func (c *Cutter) findEnd() byte {
	for {
		_, err := c.in.Peek(c.in.Buffered() + 1)
		head, _ := c.in.Peek(c.in.Buffered())
		if end, known := c.kind.End(head); known || err != nil { // an error of the file is returned by the next read
			return end
		}
	}
}

// beginning reads n bytes, or to the end of the first line if that is longer.
func (k *Kind) beginning(r io.Reader, n int) (lines []byte, err error) {
	for {
		more := make([]byte, max(n, len(lines))) // twice as much each time, since all of it is searched
		got, err := io.ReadFull(r, more)
		lines = append(lines, more[:got]...)
		switch end, known := k.End(lines); {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return lines, nil
		case err != nil:
			return nil, err
		case known && bytes.IndexByte(bytes.TrimLeft(lines, blanks), end) >= 0, len(lines) > MaxLine:
			return lines, nil
		}
	}
}
