package exact

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"posta.dev/posta/internal/wire"
)

// The wire form is canonical: equal exact values have equal bytes, whatever was added in whatever order.
//
//	nil                                the sum is not a number
//	int                                the sum is an integer that fits 64 bits
//	[int e, bool negative, bin m]      otherwise: ±m·2^e, m odd, big-endian, without leading zero bytes
const (
	maxMagnitude = wideWords * 8
	maxTop       = wideWords*64 + wideExp - 1 // 2^maxTop and above do not fit
)

// Append appends the wire form.
func (s *Sum) Append(b []byte) []byte {
	if s.isNaN() {
		return wire.AppendNil(b)
	}
	if s.wide == nil && s.near[0]|s.near[1] == 0 {
		return wire.AppendInt(b, int64(s.near[2]))
	}
	var room [len(s.near) * 8]byte
	m, e, negative := s.parts(room[:0])
	if v, ok := smallInt(m, e, negative); ok {
		return wire.AppendInt(b, v)
	}
	b = wire.AppendArray(b, 3)
	b = wire.AppendInt(b, int64(e))
	b = wire.AppendBool(b, negative)
	return wire.AppendBin(b, m)
}

// Read adds the sum whose wire form is next in r. If the form is not canonical, Read returns an error and does not change s.
func (s *Sum) Read(r *wire.Reader) error {
	if r.IsNil() {
		s.widen().nan = true
		return nil
	}
	if !r.IsArray() {
		v := r.Int()
		if err := r.Err(); err != nil {
			return fmt.Errorf("read exact sum: %w", err)
		}
		s.AddInt(v)
		return nil
	}
	r.ArrayOf(3)
	e, negative, m := r.Int(), r.Bool(), r.Bytes()
	if err := r.Err(); err != nil {
		return fmt.Errorf("read exact sum: %w", err)
	}
	if err := checkParts(m, e, negative); err != nil {
		return fmt.Errorf("read exact sum: %w: %w", wire.ErrMalformed, err)
	}
	s.addParts(m, int(e), negative)
	return nil
}

func checkParts(m []byte, e int64, negative bool) error {
	switch {
	case len(m) == 0 || len(m) > maxMagnitude:
		return fmt.Errorf("magnitude of %d bytes", len(m))
	case m[0] == 0 || m[len(m)-1]&1 == 0:
		return fmt.Errorf("magnitude is not canonical")
	case e < wideExp || e > maxTop || int(e)+bitLen(m) > maxTop:
		return fmt.Errorf("exponent %d with %d bits is out of range", e, bitLen(m))
	}
	if _, ok := smallInt(m, int(e), negative); ok {
		return fmt.Errorf("an integer in the form of a fraction")
	}
	return nil
}

func bitLen(m []byte) int { return 8*len(m) - bits.LeadingZeros8(m[0]) }

// smallInt returns ±m·2^e if it is an integer that fits 64 bits; m is odd.
func smallInt(m []byte, e int, negative bool) (int64, bool) {
	if len(m) == 0 {
		return 0, true
	}
	n := e + bitLen(m)
	if e < 0 || n > 64 {
		return 0, false
	}
	var wide [8]byte
	copy(wide[8-len(m):], m)
	v := binary.BigEndian.Uint64(wide[:]) << e
	switch {
	case negative && v <= 1<<63:
		return -int64(v), true
	case !negative && v < 1<<63:
		return int64(v), true
	}
	return 0, false
}

// parts returns the sum, which is a number, as ±m·2^e with m odd and big-endian; m is empty for 0. It is appended to buf, which is empty.
func (s *Sum) parts(buf []byte) (m []byte, e int, negative bool) {
	if s.wide != nil {
		words, minus := s.wideWords()
		negative = minus
		m, e = odd(buf, words[:])
		e += wideExp
	} else {
		near := s.near
		if negative = int64(near[2]) < 0; negative {
			negate(&near)
		}
		m, e = odd(buf, near[:])
		e -= nearPoint
	}
	if len(m) == 0 {
		return nil, 0, false
	}
	return m, e, negative
}

// odd appends the bytes of a number without the zero bits at its end to buf, big-endian, and returns how many bits these are. The lowest
// word is the first. For 0 it appends nothing.
func odd(buf []byte, words []uint64) (m []byte, zeros int) {
	skip, high := 0, len(words)
	for skip < high && words[skip] == 0 {
		skip++
	}
	if skip == high {
		return nil, 0
	}
	for words[high-1] == 0 {
		high--
	}
	shift, above := bits.TrailingZeros64(words[skip]), uint64(0)
	m = buf
	for i := high - 1; i >= skip; i-- {
		m = binary.BigEndian.AppendUint64(m, words[i]>>shift|above<<(64-shift))
		above = words[i]
	}
	for m[0] == 0 {
		m = m[1:]
	}
	return m, 64*skip + shift
}

// addParts adds ±m·2^e, which checkParts has accepted.
func (s *Sum) addParts(m []byte, e int, negative bool) {
	n := e + bitLen(m)
	if e >= nearMinExp && n <= 63 {
		t := near(m, uint(e-nearMinExp))
		if negative {
			negate(&t)
		}
		s.addNear(&t)
		return
	}
	var be [wideWords * 8]byte
	place(be[:], m, e-wideExp)
	var t [wideWords]uint64
	for i := range t {
		t[i] = binary.BigEndian.Uint64(be[len(be)-8*(i+1):])
	}
	if negative {
		negateWords(t[:])
	}
	s.widen().addWords(&t)
}

// near returns m·2^shift, which has room.
func near(m []byte, shift uint) (t [3]uint64) {
	var be [24]byte
	copy(be[len(be)-len(m):], m)
	low, mid, high := binary.BigEndian.Uint64(be[16:]), binary.BigEndian.Uint64(be[8:]), binary.BigEndian.Uint64(be[:])
	for ; shift >= 64; shift -= 64 {
		low, mid, high = 0, low, mid
	}
	return [3]uint64{low << shift, mid<<shift | low>>(64-shift), high<<shift | mid>>(64-shift)}
}

// place writes m·2^shift, big-endian, to the end of be, which has room for it.
func place(be, m []byte, shift int) {
	end, b := len(be)-shift/8, shift%8
	carry := uint16(0)
	for i := len(m) - 1; i >= 0; i-- {
		end--
		v := uint16(m[i])<<b | carry
		be[end], carry = byte(v), v>>8
	}
	if carry != 0 {
		be[end-1] = byte(carry)
	}
}
