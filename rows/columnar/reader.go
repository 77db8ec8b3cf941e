package columnar

import (
	"encoding/binary"
	"fmt"
)

// reader reads the parts of a chunk. After an error it returns only zero values.
type reader struct {
	p   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
	r.p = nil
}

func (r *reader) byte() byte {
	if p := r.take(1); len(p) == 1 {
		return p[0]
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.p)
	if n <= 0 {
		r.fail("it is cut short")
		return 0
	}
	r.p = r.p[n:]
	return v
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.p)) {
		r.fail("it is cut short")
		return nil
	}
	p := r.p[:n]
	r.p = r.p[n:]
	return p
}

func (r *reader) nulls(rows int) []byte {
	switch some := r.byte(); {
	case some == 1:
		return r.take(uint64(rows+7) / 8)
	case some > 1:
		r.fail("it does not say whether there are NULLs")
	}
	return nil
}

// lengths reads n lengths. sum is the sum of all of them.
func (r *reader) lengths(n uint64) (p []byte, width int, sum uint64) {
	width = int(r.byte())
	if width != 1 && width != 2 && width != 4 {
		r.fail("its lengths have %d bytes", width)
		return nil, 0, 0
	}
	if n > uint64(len(r.p)) { // so that the product below is small
		r.fail("it is cut short")
		return nil, 0, 0
	}
	p = r.take(n * uint64(width))
	if r.err == nil {
		sum = sumOf(p, width, 0, int(n))
	}
	return p, width, sum
}

// fixed reads a number for each row. Its width is at most most bytes.
func (r *reader) fixed(rows, most int) (p []byte, width int) {
	width = int(r.byte())
	if width > most || width != 0 && width != 1 && width != 2 && width != 4 && width != 8 {
		r.fail("its numbers have %d bytes", width)
		return nil, 0
	}
	return r.take(uint64(rows * width)), width
}

// at returns the number of a row in a column of numbers of width bytes.
func at(p []byte, width, row int) uint64 {
	switch width {
	case 0:
		return 0
	case 1:
		return uint64(p[row])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p[2*row:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p[4*row:]))
	}
	return binary.LittleEndian.Uint64(p[8*row:])
}
