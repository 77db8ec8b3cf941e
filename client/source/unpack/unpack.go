package unpack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// ErrDamaged is wrapped by the errors for a file that is cut short or damaged, or is not packed as its name says.
var ErrDamaged = errors.New("damaged file")

// buffer is how many bytes of a packed file are read at once.
const buffer = 256 << 10

// File is a file that may be packed.
type File struct {
	Path   string                  // its name in errors
	Refuse func(head []byte) error // returns an error about content that is not read in order; may be nil
	Named  *Format                 // the format that its name promises, which the content has to have; nil if it promises none
	Packed *bool                   // set to true if the file is packed; may be nil
	Read   *atomic.Int64           // counts the bytes taken from the file
}

// Open returns a reader of the unpacked content of r. It passes r's bytes unchanged if the first ones tell no format.
func (f File) Open(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(&counter{r: r, n: f.Read}, 4<<10) // small, because larger reads bypass it: plain files are not copied twice
	format, err := f.look(in)
	if err != nil {
		return nil, err
	}
	if f.Named.Read() && format != f.Named {
		return nil, fmt.Errorf("%w: %s does not begin as %s does; is it complete?", ErrDamaged, f.Path, f.Named.Name)
	}
	if format == nil {
		return in, nil
	}
	if f.Packed != nil {
		*f.Packed = true
	}
	packed, err := format.open(bufio.NewReaderSize(in, buffer))
	if err != nil {
		return nil, f.damaged(format, err)
	}
	plain := bufio.NewReaderSize(&reader{in: packed, file: f, format: format}, 4<<10)
	twice, err := f.look(plain)
	if err == nil && twice != nil {
		err = fmt.Errorf("%s is packed twice, with %s and within that with %s; unpack it once: %s %[1]s", f.Path, format.Name, twice.Name,
			format.unpack)
	}
	return plain, err
}

// look returns the format that the first bytes tell, and an error if it is one that is not read.
func (f File) look(in *bufio.Reader) (*Format, error) {
	head, err := in.Peek(magicBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		if errors.Is(err, ErrDamaged) {
			return nil, err
		}
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	format := byContent(head)
	if format.Read() {
		return format, nil
	}
	head, _ = in.Peek(in.Buffered()) // no more, because the writer of a pipe may pause here
	if format != nil {
		if err := office(f.Path, head); err != nil && format.suffix == ".zip" {
			return nil, err
		}
		return nil, format.Refuse(f.Path)
	}
	if f.Refuse != nil {
		if err := f.Refuse(head); err != nil {
			return nil, err
		}
	}
	if isTar(head) {
		return nil, fmt.Errorf("%s is a tar archive; take the file out of it: tar -xOf %[1]s", f.Path)
	}
	return nil, refuseForeign(f.Path, head)
}

// isTar reports whether a file is an archive of files.
func isTar(head []byte) bool {
	const at, mark = 257, "ustar"
	return len(head) >= at+len(mark) && string(head[at:at+len(mark)]) == mark
}

// reader adds the file's name to the errors of a decompressor. A bare io.ErrUnexpectedEOF, which a file that was cut short gives, could be
// taken for a plain end by other code.
type reader struct {
	in     io.Reader
	file   File
	format *Format
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && err != io.EOF {
		err = r.file.damaged(r.format, err)
	}
	return n, err
}

// readError is an error in reading the packed file, as opposed to damage in its content.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// damaged returns the error for users from one of a decompressor.
func (f File) damaged(format *Format, err error) error {
	var below readError
	switch {
	case errors.As(err, &below):
		return fmt.Errorf("read %s: %w", f.Path, below.error)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("%s: the file asks for a window of more than %d MiB of memory, which is refused; pack it again: zstd -dc --long=31 "+
			"%[1]s | zstd > NEW.zst: %[3]w",
			f.Path, MaxWindow>>20, err)
	}
	if errors.Is(err, errBehind) {
		return fmt.Errorf("%w: %s has bytes behind the end of its %s, after about %d bytes, which belong to nothing; if they are not needed: "+
			"%s %[2]s > NEW, and read that",
			ErrDamaged, f.Path, format.Name, f.Read.Load(), format.unpack)
	}
	what := "is damaged"
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		what = "is cut short"
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %s %s after about %d bytes of %s; copy or download it again: %w", ErrDamaged, f.Path, what, f.Read.Load(),
		format.Name, err)
}

// counter counts the bytes read, and marks errors as readError.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	if err != nil && err != io.EOF {
		err = readError{err}
	}
	return n, err
}
