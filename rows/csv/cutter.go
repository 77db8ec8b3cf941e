package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrRecordTooLong is wrapped by the errors of [Cutter]: a record is longer than the limit. Most often a quote was opened
// and never closed, and the rest of the file is one record.
var ErrRecordTooLong = errors.New("CSV record too long")

// Cutter cuts a stream into chunks of whole records. It reads ahead by at most a chunk, so a file of any size takes the memory
// of a few chunks. Where it cuts depends only on the bytes and on chunkBytes, not on the sizes of reads. Only one goroutine at
// a time may use it.
type Cutter struct {
	r          io.Reader
	comma      byte
	chunkBytes int
	maxRecord  int
	room       int // bytes that are left free before each chunk

	offset  int64 // offset of ahead in the file
	header  []byte
	begun   bool   // the header has been read or looked for
	store   []byte // the memory of ahead: store[start:], start >= room
	start   int
	ahead   []byte // bytes that were read but not yet returned
	line    uint64 // the line in which ahead starts
	lines   uint64 // how many lines end before the end that record returned
	lone    bool   // a carriage return without a line feed may come before that end
	columns int    // of the header; 0 until they are counted
	turned  bool   // carriage returns were turned into line feeds, see lineends.go
	eof     bool
	err     error // sticky
}

// NewCutter returns a cutter. A chunk has as many records as fit in chunkBytes, and at least one, which may be longer: up to
// maxRecord bytes (or chunkBytes, if that is more). comma is the separator, 0 means ','. It matters because a quote after a
// separator opens a field.
//
// A chunkBytes of 1 gives one record per chunk, for tests. Small chunks cost a message each. Large chunks keep fewer lanes busy
// and take more memory. 256 KiB to 1 MiB is right.
func NewCutter(r io.Reader, comma byte, chunkBytes, maxRecord int) *Cutter {
	comma, err := separator(comma)
	if err != nil {
		err = fmt.Errorf("cut CSV: %w", err)
	}
	chunkBytes = max(chunkBytes, 1)
	return &Cutter{r: r, comma: comma, chunkBytes: chunkBytes, maxRecord: max(maxRecord, chunkBytes), line: 1, err: err}
}

// LeaveRoom makes [Cutter.Next] leave n bytes free before each chunk, for a caller that sends a head before the chunk. Copying
// the chunk instead would cost as much as finding its end. LeaveRoom must be called before the first Header or Next.
func (c *Cutter) LeaveRoom(n int) { c.room = n }

// StartAt sets the number of the header's line, 1 by default. 0 is for a header that was put in front of a file without one. StartAt must
// be called before the first Header or Next.
func (c *Cutter) StartAt(line uint64) { c.line = line }

// Limit changes the greatest sizes of chunks and records, for a caller that learns them from the header.
func (c *Cutter) Limit(chunkBytes, maxRecord int) {
	c.chunkBytes = max(chunkBytes, 1)
	c.maxRecord = max(maxRecord, c.chunkBytes)
}

// Header returns the file's first record that is not an empty line, without byte order mark and line end. It may be called at
// any time. A file without such a record is an error that wraps [ErrHeader].
func (c *Cutter) Header() ([]byte, error) {
	if !c.begun && c.err == nil {
		c.begun = true
		c.header, c.err = c.readHeader()
	}
	if c.header == nil {
		return nil, c.err
	}
	return c.header, nil
}

func (c *Cutter) readHeader() ([]byte, error) {
	if err := c.fill(encodingBytes); err != nil {
		return nil, err
	}
	if err := checkEncoding(c.ahead); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(c.ahead, byteOrderMark) {
		c.drop(len(byteOrderMark), 0)
	}
	if err := c.findLineEnds(); err != nil {
		return nil, err
	}
	for {
		if err := c.skipBlank(); err != nil {
			return nil, err
		}
		end, err := c.record(1)
		if err != nil {
			return nil, err
		}
		if end == 0 {
			return nil, fmt.Errorf("%w: the file is empty; its first line must name the columns", ErrHeader)
		}
		header := bytes.TrimSuffix(c.ahead[:end], []byte{'\n'})
		header = bytes.Clone(header[:withoutCR(header, 0, len(header))])
		c.drop(end, c.lines)
		if len(header) > 0 && header[0] == markByte {
			return nil, fmt.Errorf("%w: the file begins with byte 0x1e, which no header may; is this a text file?", ErrHeader)
		}
		if len(header) > 0 {
			return header, nil
		}
	}
}

// skipBlank drops the empty lines at the start of a file, a buffer at a time. One by one, each would cost as much as a record.
func (c *Cutter) skipBlank() error {
	for {
		if err := c.fill(2); err != nil {
			return err
		}
		n := 0
		for ; n < len(c.ahead) && (c.ahead[n] == '\n' || c.ahead[n] == '\r' && n+1 < len(c.ahead) && c.ahead[n+1] == '\n'); n++ {
		}
		if n == 0 {
			return nil
		}
		c.drop(n, linesIn(c.ahead[:n]))
	}
}

// Next returns the next chunk, after as many free bytes as LeaveRoom has set, and the line in which the chunk starts. buf is
// memory that the caller no longer needs, most often an earlier chunk. The cutter takes it, and returns its own memory with
// the chunk in it, so large chunks are not copied. The caller owns the chunk. After the last chunk the error is io.EOF, and
// buf stays the caller's. All other errors are final, too, and name the line.
func (c *Cutter) Next(buf []byte) (chunk []byte, firstLine uint64, err error) {
	if _, err := c.Header(); err != nil {
		return nil, 0, err
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	end, err := c.record(c.chunkBytes)
	if err == nil && end == 0 {
		err = io.EOF
	}
	if err == nil && c.lone && !c.turned {
		err = c.checkEnds(c.ahead[:end])
	}
	if err != nil {
		c.err, c.ahead = err, nil
		return nil, 0, err
	}
	firstLine = c.line
	return c.take(end, buf), firstLine, nil
}

// take returns the first n bytes of ahead. It copies either these bytes or those after them, whichever are fewer.
func (c *Cutter) take(n int, buf []byte) (chunk []byte) {
	rest := c.ahead[n:]
	if n <= len(rest) {
		chunk = append(grown(buf, c.room+n)[:c.room], c.ahead[:n]...)
		c.drop(n, c.lines)
		return chunk
	}
	chunk = c.store[c.start-c.room : c.start+n]
	c.drop(n, c.lines)
	c.store = grown(buf, c.room+len(rest))
	c.start = c.room
	c.ahead = c.store[c.start : c.start+copy(c.store[c.start:], rest)]
	return chunk
}

// grown returns all of buf's memory, or new memory if buf has less than n bytes.
func grown(buf []byte, n int) []byte {
	if cap(buf) < n {
		return make([]byte, n)
	}
	return buf[:cap(buf)]
}

// record returns the end of the last record that fits in limit. If none fits, it returns the end of the first record, and
// reads as much as needed for that. At the end of the file it returns 0. It always asks for one byte more than needed. So it
// sees the end of a file that ends exactly at the limit, and cuts do not depend on the sizes of reads.
func (c *Cutter) record(limit int) (end int, err error) {
	for want := limit; ; want = 2 * max(want, len(c.ahead)) {
		if err := c.fill(min(want, c.maxRecord) + 1); err != nil {
			return 0, err
		}
		end, c.lines, c.lone = lastEnd(c.ahead, limit, c.comma)
		if c.eof && (end == 0 || len(c.ahead) <= limit) {
			c.lines += linesIn(c.ahead[end:])
			end = len(c.ahead) // the last record may have no line end
		}
		if end > c.maxRecord || end == 0 && len(c.ahead) > c.maxRecord {
			return 0, fmt.Errorf("%w: the one in line %d has more than %d bytes; is a quote opened there and never closed?",
				ErrRecordTooLong, c.line, c.maxRecord)
		}
		if c.turned {
			end = c.countReturns(end)
		}
		if end > 0 || c.eof {
			return end, nil
		}
	}
}

// fill reads until at least n bytes are ahead, or the file ends.
func (c *Cutter) fill(n int) error {
	for empty := 0; len(c.ahead) < n && !c.eof; {
		c.makeRoom(n)
		got, err := c.r.Read(c.ahead[len(c.ahead):cap(c.ahead)])
		c.ahead = c.ahead[:len(c.ahead)+got]
		switch {
		case err == io.EOF:
			c.eof = true
		case err != nil:
			return fmt.Errorf("read CSV after line %d: %w", c.line, err)
		case got > 0:
			empty = 0
		default:
			if empty++; empty == 100 {
				return fmt.Errorf("read CSV after line %d: %w", c.line, io.ErrNoProgress)
			}
		}
	}
	return nil
}

// makeRoom moves the bytes of ahead to a place with room for n bytes. Most often that is the start of the same memory.
func (c *Cutter) makeRoom(n int) {
	const least = 64 << 10 // reads are large even if chunks are small
	if cap(c.ahead) >= n {
		return
	}
	if len(c.store) < c.room+n {
		c.store = make([]byte, c.room+max(n, least))
	}
	c.start = c.room
	c.ahead = c.store[c.start : c.start+copy(c.store[c.start:], c.ahead)]
}

func (c *Cutter) drop(n int, lines uint64) {
	c.line += lines
	c.offset += int64(n)
	c.ahead, c.start = c.ahead[n:], c.start+n
}
