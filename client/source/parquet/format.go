package parquet

import (
	"errors"
	"io"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/rows/csv"
)

// Format implements format.Format.
type Format struct{}

func (Format) Name() string      { return "Parquet" }
func (Format) Endings() []string { return []string{".parquet"} }
func (Format) Anywhere() bool    { return true }

func (Format) Detect(in *format.File) (bool, error) {
	switch head := string(in.Head); {
	case head == Magic:
		return true, nil
	case head == Encrypted:
		return false, ErrEncrypted
	case in.Named:
		return false, errors.New("its name ends in .parquet, and it does not begin as Parquet files do; is it complete?")
	}
	return false, nil
}

func (Format) Columns(in *format.File, _ int) (c format.Columns, err error) {
	c.Declared = true
	c.Typed, c.Rows, err = Columns(in.At, in.At.Size())
	return c, err
}

func (Format) Cut(in *format.File, want *format.Want) (_ format.Cutter, err error) {
	if want.Columns == nil {
		return nil, format.ErrNoColumns
	}
	c := &fileCutter{in: in}
	if c.Cutter, err = NewCutter(in.At, in.At.Size(), want.Columns, want.Comma, want.ChunkBytes, want.MaxRecord); err != nil {
		return nil, err
	}
	if err := c.leaveOutOf(want); err != nil {
		return nil, err
	}
	c.LeaveRoom(want.Room)
	return c, c.fix(want)
}

// leaveOutOf leaves out what is not wanted.
func (c *Cutter) leaveOutOf(want *format.Want) error {
	if want.Skips != nil {
		if err := c.Skip(want.Skips); err != nil {
			return err
		}
	}
	if want.Lines != nil { // rows that are named pass the tests, or are few
		c.Lines(want.Lines)
		return nil
	}
	return c.Test(want.Tests)
}

// Foresee implements format.Foreseeing.
func (Format) Foresee(in *format.File, want *format.Want) (s format.Share, err error) {
	c, err := NewCutter(in.At, in.At.Size(), want.Columns, 0, 1, 1)
	if err == nil {
		err = c.leaveOutOf(want)
	}
	if err != nil {
		return s, err
	}
	for _, g := range c.groups {
		s.Groups++
		if g.skip {
			continue
		}
		s.Read++
		for _, m := range g.metas {
			s.Bytes = min(s.Bytes+m.unpacked, mostSize)
		}
	}
	return s, nil
}

// fileCutter is a cutter that counts what is read of its file, and notices if the file changes.
type fileCutter struct {
	*Cutter
	in    *format.File
	from  int64 // rows before those that are cut
	share int64 // bytes of the file that were counted so far
}

// Limit has no effect: the limits are fixed, see [NewCutter].
func (c *fileCutter) Limit(int, int) {}

// fix sets the limits. Chunks that were sent before have to end where they ended, so the limit is the one whose header was sent with them.
func (c *fileCutter) fix(want *format.Want) error {
	header, err := c.Header()
	if err != nil {
		return err
	}
	chunkBytes, maxRecord, err := want.Limits(header)
	if err != nil {
		return err
	}
	for exponent := 0; ; exponent++ {
		c.Cutter.Limit(chunkBytes, maxRecord)
		if header, err = c.Header(); err != nil {
			return err
		}
		if err = want.Sent(header); err == nil {
			return nil
		}
		if chunkBytes = 1 << exponent; exponent > csv.MaxExponent || chunkBytes > maxRecord { // the former client may have had this limit
			return err
		}
	}
}

// Part implements format.Parted.
func (c *fileCutter) Part(number int) (format.Parted, error) {
	p, err := c.Cutter.Part(number)
	if err != nil {
		return nil, err
	}
	return &fileCutter{Cutter: p, in: c.in, from: p.Done}, nil
}

// Next counts the file's bytes in proportion to its rows, because only some of the bytes are read.
func (c *fileCutter) Next(buf []byte) ([]byte, uint64, error) {
	chunk, line, err := c.Cutter.Next(buf)
	if err == nil || err == io.EOF {
		if changed := c.in.At.Unchanged(); changed != nil {
			return nil, 0, changed
		}
	}
	if c.in.Count != nil {
		share := c.in.At.Size()
		if rows := c.Rows(); rows > 0 {
			share = int64(float64(share) * float64(c.Done-c.from) / float64(rows))
		}
		c.in.Count.Add(share - c.share)
		c.share = share
	}
	return chunk, line, err
}
