package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecZstd   = 6
	codecLZ4    = 7
)

var codecNames = map[int64]string{3: "LZO", 4: "Brotli", 5: "the old LZ4"}

var errSize = errors.New("it unpacks to another size than it says")

// unpacker unpacks pages of any codec.
type unpacker struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

// read returns an error if pages of a codec cannot be read.
func (*unpacker) read(codec int64) error {
	switch codec {
	case codecNone, codecSnappy, codecGzip, codecZstd, codecLZ4:
		return nil
	}
	name := codecNames[codec]
	if name == "" {
		name = fmt.Sprintf("a codec that is not known (%d)", codec)
	}
	return fmt.Errorf("%w: its pages are packed with %s; write it with Zstandard, Snappy, gzip or LZ4 (LZ4_RAW)", ErrUnread, name)
}

// unpack fills dst with the unpacked data. Whatever sizes packed names, unpack takes no more memory than its window.
func (u *unpacker) unpack(codec int64, dst, packed []byte) error {
	switch codec {
	case codecNone:
		if len(packed) != len(dst) {
			return errSize
		}
		copy(dst, packed)
		return nil
	case codecSnappy:
		n, err := snappy.DecodedLen(packed)
		switch {
		case err != nil:
			return err
		case n != len(dst):
			return errSize
		}
		_, err = snappy.Decode(dst, packed)
		return err
	case codecGzip:
		return u.gunzip(dst, packed)
	case codecZstd:
		if u.zstd == nil {
			z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
			if err != nil {
				return err
			}
			u.zstd = z
		}
		got, err := u.zstd.DecodeAll(packed, dst[:0:len(dst)])
		if err == nil && len(got) != len(dst) {
			err = errSize
		}
		return err
	default: // LZ4
		n, err := lz4.UncompressBlock(packed, dst)
		if err == nil && n != len(dst) {
			err = errSize
		}
		return err
	}
}

func (u *unpacker) gunzip(dst, packed []byte) error {
	var err error
	if u.gzip == nil {
		u.gzip, err = gzip.NewReader(bytes.NewReader(packed))
	} else {
		err = u.gzip.Reset(bytes.NewReader(packed))
	}
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(u.gzip, dst); err != nil {
		return err
	}
	if n, err := u.gzip.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return errors.Join(errSize, err)
	}
	return nil
}
