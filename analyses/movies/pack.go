package movies

import (
	"encoding/binary"
	"errors"
)

// A list travels as one text: the names end to end, each after its length as an unsigned varint. In a cast, the person's id
// comes before the length, as a varint.

func packText(dst, text []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func packInt(dst []byte, v int64) []byte { return binary.AppendVarint(dst, v) }

// errPacked is the error for a frame that no parser can have made.
var errPacked = errors.New("movies: malformed list of names")

// cutText returns the text that p begins with and the rest.
func cutText(p []byte) (text, rest []byte, err error) {
	size, n := binary.Uvarint(p)
	if n <= 0 || size > uint64(len(p)-n) {
		return nil, nil, errPacked
	}
	end := n + int(size)
	return p[n:end:end], p[end:], nil
}

// cutInt returns the number that p begins with and the rest.
func cutInt(p []byte) (v int64, rest []byte, err error) {
	v, n := binary.Varint(p)
	if n <= 0 {
		return 0, nil, errPacked
	}
	return v, p[n:], nil
}
