package inplace

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// errOther says that this node would cut the file otherwise than its client does, which may be a program of another version.
var errOther = errors.New("it has other columns here than its client says")

// columnsOf opens a file of columns for the analysis of its session, as the client has done. What it reads serves all parts of the file.
func columnsOf(read *role.Read, src io.ReaderAt) (format.Parted, error) {
	of := read.Of
	want := &format.Want{Columns: of.Columns, Comma: of.Comma, ChunkBytes: read.Chunk, MaxRecord: read.MaxRecord, Skips: of.Skips,
		Tests:  of.Tests,
		Limits: func([]byte) (int, int, error) { return read.Chunk, read.MaxRecord, nil },
		Sent: func(header []byte) error {
			if !bytes.Equal(header, read.Header) {
				return errOther
			}
			return nil
		}}
	if of.Lines != nil {
		if lines, all := of.Lines(read.File); !all {
			want.Lines = append([]uint64{}, lines...)
		}
	}
	c, err := parquet.Format{}.Cut(&format.File{At: located{src, int64(read.Stamp.Size)}}, want)
	if err != nil {
		return nil, err
	}
	return c.(format.Parted), nil
}

// located implements format.Located for a file whose changes are noticed by its stamp.
type located struct {
	io.ReaderAt
	size int64
}

func (l located) Size() int64      { return l.size }
func (l located) Unchanged() error { return nil }

// repeat cuts again what was taken of the part before.
func (c *Cutting) repeat() (err error) {
	taken := c.read.From
	var memory []byte
	for c.read.From = int64(c.read.Part) << protocol.PartBits; c.read.From < taken; {
		var to int64
		if memory, _, to, err = c.columns(memory); err != nil {
			return err
		}
		if c.read.From = to; memory == nil {
			break
		}
	}
	if c.read.From != taken {
		return fmt.Errorf("%w: what was read of its part %d before does not end where rows do", ErrChanged, c.read.Part)
	}
	return nil
}

// columns cuts the next columns of the part, and returns where they end. There are none at its end.
func (c *Cutting) columns(memory []byte) (data []byte, line uint64, to int64, err error) {
	data, line, err = c.part.Next(memory)
	switch to = c.read.From + int64(len(data)); {
	case err == io.EOF:
		return nil, 0, c.read.To, nil
	case err == nil && to >= c.read.To:
		err = fmt.Errorf("its part %d has too many bytes", c.read.Part)
	}
	return data, line, to, err
}
