package jsonl

import (
	"bytes"
	"io"
)

// blanks are what may stand before the first object of a file: white space, and a byte order mark.
const blanks = " \t\r\n\ufeff"

// lineEnd returns the byte that ends the lines of a file: a line feed, behind a carriage return or not, or a carriage return alone. head is
// the file's beginning; known is false if more of it is needed. A carriage return may also be white space in an object, so it ends lines
// only if a whole object is before the first one.
func lineEnd(head []byte) (end byte, known bool) {
	head = bytes.TrimLeft(head, blanks)
	i := bytes.IndexAny(head, "\r\n")
	switch {
	case i < 0 || head[i] == '\r' && i+1 == len(head):
		return '\n', false
	case head[i] == '\n' || head[i+1] == '\n' || newObject(nil).read(head[:i]) != nil:
		return '\n', true
	}
	return '\r', true
}

// findEnd returns what ends the file's lines. It waits for no more of the file than it needs, because it may be a pipe.
func (c *Cutter) findEnd() byte {
	for {
		_, err := c.in.Peek(c.in.Buffered() + 1)
		head, _ := c.in.Peek(c.in.Buffered())
		if end, known := lineEnd(head); known || err != nil { // an error of the file is returned by the next read
			return end
		}
	}
}

// Beginning reads n bytes, or to the end of the first line if that is longer.
func Beginning(r io.Reader, n int) (lines []byte, err error) {
	for {
		more := make([]byte, max(n, len(lines))) // twice as much each time, since all of it is searched
		got, err := io.ReadFull(r, more)
		lines = append(lines, more[:got]...)
		switch end, known := lineEnd(lines); {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return lines, nil
		case err != nil:
			return nil, err
		case known && bytes.IndexByte(bytes.TrimLeft(lines, blanks), end) >= 0, len(lines) > maxLine:
			return lines, nil
		}
	}
}

// Keys returns the keys of the objects in some lines, in the order in which they are found. Lines that are not whole objects are skipped.
func Keys(lines []byte) (keys []string) {
	o, seen := newObject(nil), map[string]bool{}
	o.gather = true
	end, _ := lineEnd(lines)
	for line := range bytes.SplitSeq(lines, []byte{end}) {
		o.keys = o.keys[:0]
		if o.read(bytes.TrimPrefix(line, []byte("\ufeff"))) != nil {
			continue
		}
		for _, k := range o.keys {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}
