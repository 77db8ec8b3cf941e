package unpack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Format is a way to pack files. Formats without open are recognised, but not read.
type Format struct {
	Name   string
	suffix string   // the ending of names
	magics []string // how the content may begin; empty if that does not tell the format
	unpack string   // the command that unpacks it
	open   func(packed *bufio.Reader) (io.Reader, error)
}

const gzipMagic = "\x1f\x8b"

var formats = []*Format{
	{"gzip", ".gz", []string{gzipMagic}, "gzip -dc", openGzip},
	{"Zstandard", ".zst", []string{"\x28\xb5\x2f\xfd",
		// A frame without content, which other frames follow: pzstd writes one at the beginning of files.
		"\x50\x2a\x4d\x18", "\x51\x2a\x4d\x18", "\x52\x2a\x4d\x18", "\x53\x2a\x4d\x18"}, "zstd -dc", openZstd},
	{"LZ4", ".lz4", []string{"\x04\x22\x4d\x18", "\x02\x21\x4c\x18"}, "lz4 -dc", openLZ4}, // the second is what `lz4 -l` writes
	{"bzip2", ".bz2", []string{"BZh"}, "bzip2 -dc", openBzip2},

	{"xz", ".xz", []string{"\xfd7zXZ\x00"}, "xz -dc", nil},
	{"ZIP", ".zip", []string{"PK\x03\x04"}, "unzip -p", nil},
	{"7-Zip", ".7z", []string{"7z\xbc\xaf\x27\x1c"}, "7z e -so", nil},
	{"LZMA", ".lzma", []string{"\x5d\x00\x00\x80\x00"}, "lzma -dc", nil},
	{"Brotli", ".br", nil, "brotli -dc", nil},
	{"compress", ".Z", []string{"\x1f\x9d"}, "uncompress -c", nil},
	{"tar", ".tar", nil, "tar -xOf", nil},
	{"tar and gzip", ".tgz", nil, "tar -xzOf", nil},
	{"tar and gzip", ".tar.gz", nil, "tar -xzOf", nil},
}

// magicBytes is how many bytes of a file tell how it is packed.
const magicBytes = 6

// ByName returns the format that the end of a name tells and the name without it; nil if it tells none.
func ByName(name string) (*Format, string) {
	var best *Format
	for _, f := range formats {
		if f.suffix != "" && strings.HasSuffix(name, f.suffix) && (best == nil || len(f.suffix) > len(best.suffix)) {
			best = f
		}
	}
	if best == nil {
		return nil, name
	}
	return best, strings.TrimSuffix(name, best.suffix)
}

// Matches reports whether a name fits a pattern of package path, either as it is or without the ending of a format that is read. plain is
// the name that fits.
func Matches(pattern, name string) (plain string, fits bool) {
	if f, short := ByName(name); f.Read() {
		if fits, _ = path.Match(pattern, short); fits {
			return short, true
		}
	}
	fits, _ = path.Match(pattern, name)
	return name, fits
}

// Read reports whether files of the format are read. A nil format is that of a plain file, for which it returns false.
func (f *Format) Read() bool { return f != nil && f.open != nil }

// Refuse returns the error for the file at path, which is of a format that is not read.
func (f *Format) Refuse(path string) error {
	return fmt.Errorf("%s is packed with %s; gzip, zstd, lz4 and bzip2 are read: %s %[1]s | zstd > %[4]s.zst, and remove it", path, f.Name,
		f.unpack,
		strings.TrimSuffix(path, f.suffix))
}

// byContent returns the format that the first bytes of a file tell, nil if they tell none.
func byContent(head []byte) *Format {
	for _, f := range formats {
		for _, magic := range f.magics {
			if bytes.HasPrefix(head, []byte(magic)) {
				return f
			}
		}
	}
	return nil
}

// gzipReader reads members one after the other, as gzip(1) writes them when files are joined. The library would take what is behind the
// last one for the head of another, and say that the file is cut.
type gzipReader struct {
	packed *bufio.Reader
	z      *gzip.Reader
	ended  bool // the end of a member was seen
}

// errBehind is about bytes behind the end of a packed file that belong to nothing.
var errBehind = errors.New("there are other bytes behind the end")

func openGzip(packed *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipReader{packed: packed, z: z}, nil
}

func (r *gzipReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if r.ended {
			if err := r.next(); err != nil {
				return 0, err
			}
		}
		n, err := r.z.Read(p)
		if err == io.EOF {
			r.ended, err = true, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next goes to the next member. Zeros are what fills up a block of a tape or a disk: gzip(1) ignores them, too.
func (r *gzipReader) next() error {
	for {
		head, err := r.packed.Peek(1)
		if err != nil {
			return err // io.EOF: the last member has ended
		}
		if head[0] != 0 {
			break
		}
		_, _ = r.packed.Discard(1) // it was there
	}
	if head, err := r.packed.Peek(2); err != nil && err != io.EOF {
		return err
	} else if string(head) != gzipMagic {
		return errBehind
	}
	if err := r.z.Reset(r.packed); err != nil {
		return err
	}
	r.z.Multistream(false)
	r.ended = false
	return nil
}

func openBzip2(packed *bufio.Reader) (io.Reader, error) { return bzip2.NewReader(packed), nil }

// MaxWindow is the largest window of a Zstandard file that is read, in bytes: `zstd --long` writes it and `zstd -d` reads it without
// further options.
const MaxWindow = 128 << 20

func openZstd(packed *bufio.Reader) (io.Reader, error) {
	// With a concurrency of 1 it starts no goroutines, so there is nothing to close.
	z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
	if err != nil {
		return nil, err
	}
	return z, nil
}

// lz4Reader continues after the end of a frame, where the library's reader stops.
type lz4Reader struct {
	packed *bufio.Reader
	z      *lz4.Reader
	ended  bool // the end of a frame was seen
}

func openLZ4(packed *bufio.Reader) (io.Reader, error) {
	return &lz4Reader{packed: packed, z: lz4.NewReader(packed)}, nil
}

func (r *lz4Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if r.ended {
			if _, err := r.packed.Peek(1); err != nil {
				return 0, err // io.EOF: the last frame has ended
			}
			r.z.Reset(r.packed)
			r.ended = false
		}
		n, err := r.z.Read(p)
		if err == io.EOF {
			r.ended, err = true, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}
