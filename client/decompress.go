package client

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// gzipBuffer is how much compressed data is read at once.
const gzipBuffer = 256 << 10

// decompressed returns r itself, or what is in it if it begins as gzip does: a file is known by its content, not only by its
// name. read counts the bytes taken from r.
func decompressed(r io.Reader, source *Source, read *atomic.Int64) (io.Reader, error) {
	in := bufio.NewReaderSize(&counter{r: r, n: read}, 4<<10) // small: larger reads pass it by, so plain files are not copied twice
	head, err := in.Peek(magicBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", source.where(), err)
	}
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		if err := checkPacking(head, source.where()); err != nil {
			return nil, err
		}
		if source.Gzip {
			return nil, fmt.Errorf("%w: %s does not begin as gzip does; is it complete?", ErrDamaged, source.where())
		}
		return in, nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(in, gzipBuffer))
	if err != nil {
		return nil, damaged(source.where(), read, err)
	}
	return &gzipReader{z: z, name: source.where(), read: read}, nil
}

// gzipReader gives the reader's complaints the file's name. Without it a file cut short ends in io.ErrUnexpectedEOF, which
// somebody between here and the user might take for a plain end.
type gzipReader struct {
	z    *gzip.Reader
	name string
	read *atomic.Int64
}

func (g *gzipReader) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(g.name, g.read, err)
	}
	return n, err
}

func damaged(name string, read *atomic.Int64, err error) error {
	what := "is damaged"
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		what = "is cut short"
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %s %s after about %d compressed bytes; copy or download it again: %w", ErrDamaged, name, what,
		read.Load(), err)
}

type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
