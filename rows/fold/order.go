package fold

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The order-preserving encoding combines several values into one text: the bytes of two encodings compare as the values do,
// first value first. With it, MinText, MaxText and Least find "the smallest route of the shortest duration".
//
//	int     8 bytes, big-endian, sign bit flipped
//	text    its bytes, 0x00 as 0x00 0xff, then 0x00 0x01
//
// The end mark is less than any continuation, so a text sorts before the texts that begin with it.

// ErrEncoding is wrapped by the errors of [CutText] and [CutInt].
var ErrEncoding = errors.New("malformed ordered value")

const (
	orderedZero = 0xff
	orderedEnd  = 0x01
)

// AppendText appends the encoding of a text.
func AppendText[T string | []byte](b []byte, v T) []byte {
	for i := range len(v) {
		b = append(b, v[i])
		if v[i] == 0 {
			b = append(b, orderedZero)
		}
	}
	return append(b, 0, orderedEnd)
}

// AppendInt appends the encoding of a number.
func AppendInt(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(v)^1<<63)
}

// CutText returns the text that b begins with and the rest of b.
func CutText(b []byte) (v, rest []byte, err error) {
	for i := 0; i+1 < len(b); i++ {
		if b[i] != 0 {
			v = append(v, b[i])
			continue
		}
		switch b[i+1] {
		case orderedEnd:
			return v, b[i+2:], nil
		case orderedZero:
			v = append(v, 0)
			i++
		default:
			return nil, nil, fmt.Errorf("%w: byte 0x%02x after a zero", ErrEncoding, b[i+1])
		}
	}
	return nil, nil, fmt.Errorf("%w: a text without end", ErrEncoding)
}

// CutInt returns the number that b begins with and the rest of b.
func CutInt(b []byte) (v int64, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, fmt.Errorf("%w: %d bytes where a number has 8", ErrEncoding, len(b))
	}
	return int64(binary.BigEndian.Uint64(b) ^ 1<<63), b[8:], nil
}
