package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrMalformed is wrapped by every error of a [Reader]: the bytes are not the expected msgpack.
var ErrMalformed = errors.New("malformed msgpack")

// Reader reads msgpack values from the front of a byte slice. The first error is kept: later calls return zero values, and
// [Reader.Err] and [Reader.Done] return the error. Returned byte slices are views into the input and live as long as it does.
type Reader struct {
	b   []byte
	off int
	err error
}

// NewReader returns a Reader over b, which it does not copy.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Err returns the first error, nil if there was none.
func (r *Reader) Err() error { return r.err }

// Done returns the first error, or an error if bytes remain.
func (r *Reader) Done() error {
	if r.err == nil && r.off != len(r.b) {
		r.fail("%d bytes left over", len(r.b)-r.off)
	}
	return r.err
}

// Len returns the number of remaining bytes.
func (r *Reader) Len() int { return len(r.b) - r.off }

// Rest reads all remaining bytes, and returns them as a view.
func (r *Reader) Rest() []byte { return r.take(r.Len()) }

// Fail makes the reader fail as if the bytes were malformed, unless it already has failed. Codecs use it for values that are
// sound msgpack but not allowed in their place, so that they, too, need to check for errors only once at the end.
func (r *Reader) Fail(format string, args ...any) { r.fail(format, args...) }

func (r *Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w at byte %d: %s", ErrMalformed, r.off, fmt.Sprintf(format, args...))
	}
}

func (r *Reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b)-r.off {
		r.fail("%d bytes wanted, %d left", n, len(r.b)-r.off)
		return nil
	}
	p := r.b[r.off : r.off+n : r.off+n]
	r.off += n
	return p
}

func (r *Reader) tag() (byte, bool) {
	p := r.take(1)
	if p == nil {
		return 0, false
	}
	return p[0], true
}

// uintN reads a big-endian unsigned integer of n bytes, n in {1, 2, 4, 8}.
func (r *Reader) uintN(n int) uint64 {
	p := r.take(n)
	if p == nil {
		return 0
	}
	switch n {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(p))
	case 4:
		return uint64(binary.BigEndian.Uint32(p))
	default:
		return binary.BigEndian.Uint64(p)
	}
}

// Uint reads an unsigned integer; a negative one is an error.
func (r *Reader) Uint() uint64 {
	t, ok := r.tag()
	switch {
	case !ok:
		return 0
	case t < 0x80:
		return uint64(t)
	case t >= 0xcc && t <= 0xcf:
		return r.uintN(1 << (t - 0xcc))
	}
	r.off--
	v := r.Int()
	if v < 0 {
		r.fail("unsigned integer wanted, %d found", v)
		return 0
	}
	return uint64(v)
}

// Int reads an integer that fits an int64.
func (r *Reader) Int() int64 {
	t, ok := r.tag()
	switch {
	case !ok:
		return 0
	case t < 0x80:
		return int64(t)
	case t >= 0xe0:
		return int64(int8(t))
	case t >= 0xcc && t <= 0xcf:
		v := r.uintN(1 << (t - 0xcc))
		if v > math.MaxInt64 {
			r.fail("integer %d does not fit 63 bits", v)
			return 0
		}
		return int64(v)
	case t == 0xd0:
		return int64(int8(r.uintN(1)))
	case t == 0xd1:
		return int64(int16(r.uintN(2)))
	case t == 0xd2:
		return int64(int32(r.uintN(4)))
	case t == 0xd3:
		return int64(r.uintN(8))
	}
	r.off--
	r.fail("integer wanted, type byte 0x%02x found", t)
	return 0
}

// Float reads a float64 (a float32 or an integer is converted).
func (r *Reader) Float() float64 {
	t, ok := r.tag()
	switch {
	case !ok:
		return 0
	case t == 0xcb:
		return math.Float64frombits(r.uintN(8))
	case t == 0xca:
		return float64(math.Float32frombits(uint32(r.uintN(4))))
	}
	r.off--
	return float64(r.Int())
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	t, ok := r.tag()
	if ok && t != 0xc2 && t != 0xc3 {
		r.off--
		r.fail("boolean wanted, type byte 0x%02x found", t)
	}
	return ok && t == 0xc3
}

// Bools fills v from an array, which must have exactly len(v) booleans.
func (r *Reader) Bools(v []bool) {
	r.ArrayOf(len(v))
	for i := range v {
		v[i] = r.Bool()
	}
}

// IsNil consumes a nil if one is next.
func (r *Reader) IsNil() bool {
	if r.err == nil && r.off < len(r.b) && r.b[r.off] == 0xc0 {
		r.off++
		return true
	}
	return false
}

// IsArray reports whether an array is next, without reading it. If a value may be of two kinds, this avoids the error of a
// reader that tries one of them.
func (r *Reader) IsArray() bool {
	if r.err != nil || r.off >= len(r.b) {
		return false
	}
	t := r.b[r.off]
	return t&0xf0 == 0x90 || t == 0xdc || t == 0xdd
}

// Bytes reads a bin or a str, and returns a view into the input.
func (r *Reader) Bytes() []byte {
	t, ok := r.tag()
	switch {
	case !ok:
		return nil
	case t >= 0xa0 && t <= 0xbf:
		return r.take(int(t & 0x1f))
	case t == 0xc4 || t == 0xd9:
		return r.take(int(r.uintN(1)))
	case t == 0xc5 || t == 0xda:
		return r.take(int(r.uintN(2)))
	case t == 0xc6 || t == 0xdb:
		return r.take(int(r.uintN(4)))
	}
	r.off--
	r.fail("bytes or string wanted, type byte 0x%02x found", t)
	return nil
}

// BytesOf reads a bin or a str, which must have exactly n bytes, and returns a view into the input.
func (r *Reader) BytesOf(n int) []byte {
	p := r.Bytes()
	if r.err == nil && len(p) != n {
		r.fail("%d bytes wanted, %d found", n, len(p))
		return nil
	}
	return p
}

// Fixed fills dst from a bin or a str, which must have exactly len(dst) bytes.
func (r *Reader) Fixed(dst []byte) { copy(dst, r.BytesOf(len(dst))) }

// String reads a bin or a str, and returns a copy.
func (r *Reader) String() string { return string(r.Bytes()) }

// Array reads the header of an array. The length is at most the number of remaining bytes, because an element takes at least
// one byte. So a loop over the elements ends, and the frame bounds a slice that is made for them.
func (r *Reader) Array() int { return r.header(0x90, 0xdc, 1) }

// AtArray reports whether the next value is an array, without reading it.
func (r *Reader) AtArray() bool {
	return r.err == nil && r.off < len(r.b) && (r.b[r.off]&0xf0 == 0x90 || r.b[r.off] == 0xdc || r.b[r.off] == 0xdd)
}

// Map reads the header of a map and returns the number of pairs, at most half the number of remaining bytes.
func (r *Reader) Map() int { return r.header(0x80, 0xde, 2) }

func (r *Reader) header(fix, wide byte, min int) int {
	t, ok := r.tag()
	if !ok {
		return 0
	}
	n := uint64(0)
	switch {
	case t&0xf0 == fix:
		n = uint64(t & 0x0f)
	case t == wide:
		n = r.uintN(2)
	case t == wide+1:
		n = r.uintN(4)
	default:
		r.off--
		r.fail("type byte 0x%02x found where an array or map was wanted", t)
		return 0
	}
	if n*uint64(min) > uint64(r.Len()) {
		r.fail("%d elements announced, %d bytes left", n, r.Len())
		return 0
	}
	return int(n)
}

// ArrayOf reads the header of an array that must have exactly n elements.
func (r *Reader) ArrayOf(n int) {
	if got := r.Array(); r.err == nil && got != n {
		r.fail("array of %d wanted, %d found", n, got)
	}
}

// Skip skips one value of any form, nested at most depth deep.
func (r *Reader) Skip(depth int) {
	t, ok := r.tag()
	if !ok {
		return
	}
	switch {
	case t < 0x80 || t >= 0xe0 || t == 0xc0 || t == 0xc2 || t == 0xc3:
	case t <= 0x9f || t >= 0xdc && t <= 0xdf:
		r.off--
		r.skipContainer(t, depth)
	case t == 0xcc || t == 0xd0:
		r.take(1)
	case t == 0xcd || t == 0xd1:
		r.take(2)
	case t == 0xce || t == 0xd2 || t == 0xca:
		r.take(4)
	case t == 0xcf || t == 0xd3 || t == 0xcb:
		r.take(8)
	case t <= 0xbf || t >= 0xc4 && t <= 0xc6 || t >= 0xd9 && t <= 0xdb:
		r.off--
		r.Bytes()
	case t >= 0xd4 && t <= 0xd8:
		r.take(1 + 1<<(t-0xd4))
	case t >= 0xc7 && t <= 0xc9:
		r.take(1 + int(r.uintN(1<<(t-0xc7))))
	default:
		r.off--
		r.fail("type byte 0x%02x is not msgpack", t)
	}
}

func (r *Reader) skipContainer(t byte, depth int) {
	if depth <= 0 {
		r.fail("nested too deep")
		return
	}
	n := 0
	if t&0xf0 == 0x80 || t == 0xde || t == 0xdf {
		n = 2 * r.Map()
	} else {
		n = r.Array()
	}
	for ; n > 0 && r.err == nil; n-- {
		r.Skip(depth - 1)
	}
}
