package client

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	files "posta.dev/posta/client/source"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// located is a file that can be read at any place.
type located interface {
	io.ReaderAt
	Size() int64
	// Unchanged returns an error if the file became another one since it was opened.
	Unchanged() error
}

// located returns r as a file that can be read at any place if it is a Parquet file, else nil. It also returns the reader to use instead of
// r, which begins with the bytes that were read here. A remote Parquet file is copied to the disk first, because its end has to be read
// before the rest.
func (f *streamUpload) located(r io.Reader, source *Source) (located, io.Reader, error) {
	head := make([]byte, len(parquet.Magic))
	if file, ok := r.(located); ok {
		switch n, err := file.ReadAt(head, 0); {
		case n == len(head) && string(head) == parquet.Magic:
			return file, r, nil
		case n == len(head) && string(head) == parquet.Encrypted:
			return nil, nil, parquet.ErrEncrypted
		case err != nil && err != io.EOF:
			return nil, nil, err
		}
	} else if source.Remote {
		n, err := io.ReadFull(r, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, nil, err
		}
		r = io.MultiReader(bytes.NewReader(head[:n]), r)
		switch string(head[:n]) {
		case parquet.Magic:
			file, err := fetch(r, &f.counters.read, freeIn)
			return file, r, err
		case parquet.Encrypted:
			return nil, nil, parquet.ErrEncrypted
		}
	}
	if source.Says.Form == files.Parquet && source.Says.Pack == nil {
		return nil, nil, errors.New("its name ends in .parquet, and it does not begin as Parquet files do; is it complete?")
	}
	return nil, r, nil
}

// columnar cuts a Parquet file.
type columnar struct {
	*parquet.Cutter
	file  located
	count *atomic.Int64 // counts bytes read; nil if all of the file was counted already
	share int64         // bytes of the file that were counted so far
	fixed bool          // Limit has no effect
}

// Limit is the cutter's Limit, unless the limits are fixed: in a session that is resumed, chunks that hold columns have to end where they
// ended before, see [parquet.NewCutter].
func (c *columnar) Limit(chunkBytes, maxRecord int) {
	if !c.fixed {
		c.Cutter.Limit(chunkBytes, maxRecord)
	}
}

// openColumnar returns the cutter that turns a Parquet file into rows.
func (f *streamUpload) openColumnar(file located, source *Source) (_ cutter, header []byte, err error) {
	c := &columnar{file: file, count: &f.counters.read}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if f.columns == nil {
		return nil, nil, errNoColumns
	}
	if header, err = f.cutColumnar(c, source); err != nil {
		return nil, nil, err
	}
	if source.Says.Form != files.Parquet {
		f.notes.add(source.where(), "read as Parquet")
	}
	if source.Remote {
		c.count = nil
	}
	return c, header, nil
}

// cutColumnar sets the cutter of the file. In a session that is resumed, chunks have to end where they ended before.
func (f *streamUpload) cutColumnar(c *columnar, source *Source) (header []byte, err error) {
	if c.Cutter, err = parquet.NewCutter(c.file, c.file.Size(), f.columns, f.stream.Comma, f.chunkBytes, protocol.MaxData); err != nil {
		return nil, err
	}
	if f.skips != nil {
		if err := c.Skip(f.skips); err != nil {
			return nil, err
		}
	}
	c.LeaveRoom(headRoom)
	if header, err = c.Header(); err != nil {
		return nil, err
	}
	chunkBytes, maxRecord, err := f.limits(source, header)
	if err != nil {
		return nil, err
	}
	had := f.had.File(f.stream.Name, source.Name)
	for exponent := 0; ; exponent++ {
		c.Limit(chunkBytes, maxRecord)
		if header, err = c.Header(); err != nil {
			return nil, err
		}
		if err = had.Header(header); err == nil {
			c.fixed = true
			return header, nil
		}
		if chunkBytes = 1 << exponent; exponent > csv.MaxExponent || chunkBytes > maxRecord { // the former client may have had this limit
			return nil, err
		}
	}
}

// Next counts the file's bytes in proportion to its rows, because only some of the bytes are read.
func (c *columnar) Next(buf []byte) ([]byte, uint64, error) {
	chunk, line, err := c.Cutter.Next(buf)
	if err == nil || err == io.EOF {
		if changed := c.file.Unchanged(); changed != nil {
			return nil, 0, changed
		}
	}
	if c.count != nil {
		share := c.file.Size()
		if rows := c.Rows(); err == nil && rows > 0 {
			share = int64(float64(share) * float64(c.Done) / float64(rows))
		}
		c.count.Add(share - c.share)
		c.share = share
	}
	return chunk, line, err
}

// Close frees the temporary copy of a remote file.
func (c *columnar) Close() error {
	if s, ok := c.file.(*fetched); ok {
		return s.Close()
	}
	return nil
}
