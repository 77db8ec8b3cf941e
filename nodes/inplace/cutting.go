package inplace

import (
	"errors"
	"fmt"
	"io"
	"time"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// ErrChanged is wrapped by errors about a file that differs from what the client said, from the start or since.
var ErrChanged = errors.New("the file has changed")

// Source is an open file. It is an interface for the simulator (test/sim), which changes files at will.
type Source interface {
	io.ReaderAt
	// Is returns the present stamp of the open file.
	Is() (protocol.Stamp, error)
	// There returns the stamp of the file that is now at the path.
	There() (protocol.Stamp, error)
}

// Cutting is a file that is being cut into pieces.
type Cutting struct {
	read role.Read // From and Line are where the next piece begins
	src  Source
	cut  *csv.Cutter
	part format.Parted // in place of cut
}

// Begin begins to cut a file, if its stamp is the one that the client sent.
func Begin(read role.Read, src Source) (*Cutting, error) {
	c := &Cutting{read: read, src: src}
	if err := c.same(src.Is()); err != nil {
		return nil, c.error(err)
	}
	if read.Part >= 0 {
		of, err := columnsOf(&read, src)
		if err == nil {
			c.part, err = of.Part(read.Part)
		}
		if err == nil {
			err = c.repeat()
		}
		if err != nil {
			return nil, c.error(err)
		}
		return c, nil
	}
	var err error
	rest := int64(read.Stamp.Size) - read.From
	chunk := int(min(int64(read.Chunk), max(1, rest))) // a small file needs little memory, and is cut in the same places
	c.cut, err = csv.Continue(io.NewSectionReader(src, read.From, rest), read.Header, read.Of.Comma, read.From, read.Line, chunk,
		read.MaxRecord)
	if err != nil {
		return nil, c.error(err)
	}
	return c, nil
}

// Done reports whether all of the file has been handed out.
func (c *Cutting) Done() bool { return c.read.From == c.read.To }

// Next returns the next piece after checking that the file has not changed. The piece is in memory, or in new memory if the cutter needed
// more. With look, and before the last piece, Next also checks that the path still leads to the file.
func (c *Cutting) Next(memory []byte, look bool) (*role.Piece, error) {
	data, line, to, next, err := c.some(memory)
	if changed := c.same(c.src.Is()); changed != nil {
		err = changed // takes precedence over any other error
	}
	if err == nil && (look || to == c.read.To) {
		err = c.same(c.src.There())
	}
	switch {
	case err == io.EOF:
		err = fmt.Errorf("read at byte %d of %d: %w", c.read.From, c.read.Stamp.Size, io.ErrUnexpectedEOF)
	case errors.Is(err, csv.ErrRecordTooLong):
		err = fmt.Errorf("%w A record has to fit into a request (limits.frame, and %d bytes at most)", err, protocol.MaxData)
	}
	if err != nil {
		return nil, c.error(err)
	}
	p := c.piece()
	if p.To, p.Line = to, next; data != nil {
		p.Chunk = &role.Chunk{File: c.read.File, Header: c.read.Header, Line: line, Data: data}
	}
	c.read.From, c.read.Line = to, next
	return p, nil
}

// some cuts some records, and returns where the next ones begin. There are none at the end of a part.
func (c *Cutting) some(memory []byte) (data []byte, line uint64, to int64, next uint64, err error) {
	if c.part != nil {
		data, line, to, err = c.columns(memory)
		return data, line, to, line, err
	}
	data, line, err = c.cut.Next(memory)
	to, next, _ = c.cut.Place()
	return data, line, to, next, err
}

// End returns the piece that ends a file without rows.
func (c *Cutting) End() *role.Piece {
	p := c.piece()
	p.To, p.Line = c.read.From, c.read.Line
	return p
}

// Failed returns the piece that carries the error that ended the reading.
func (c *Cutting) Failed(err error) *role.Piece {
	p := c.piece()
	p.Err = err
	return p
}

func (c *Cutting) piece() *role.Piece {
	r := &c.read
	return &role.Piece{Read: r.ID, Session: r.Session, Stream: r.Stream, Reference: r.Reference, From: r.From}
}

// Failed returns the piece that says why the file cannot be read from read.From on.
func Failed(read role.Read, err error) *role.Piece {
	return (&Cutting{read: read}).Failed(err)
}

func (c *Cutting) error(err error) error { return fmt.Errorf("%s: %w", c.read.Path, err) }

// same returns an error if a file's stamp differs from the client's.
func (c *Cutting) same(is protocol.Stamp, err error) error {
	if err != nil || is == c.read.Stamp {
		return err
	}
	return fmt.Errorf("%w: it was %s, and is %s; start the session again when nothing writes to it", ErrChanged, text(c.read.Stamp), text(is))
}

func text(s protocol.Stamp) string {
	return fmt.Sprintf("%d bytes, written %s, inode %d", s.Size, time.Unix(0, s.Modified).UTC().Format(time.RFC3339Nano), s.Inode)
}
