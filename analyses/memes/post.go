package memes

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// errPost is returned by cutPost for a text that appendPost does not make.
var errPost = errors.New("malformed post")

// appendPost makes a text whose maximum is the last row of a post. Three processes keep one such text per post, so it is
// short:
//
//	1 byte   how many bytes the place has, so that a longer place is greater
//	0 … 8    the place, big-endian
//	varint   the score
//	         the url as it is; it is never compared, because no two rows have the same place
func appendPost(b []byte, place uint64, score int64, url []byte) []byte {
	size := (bits.Len64(place) + 7) / 8
	b = append(b, byte(size))
	for i := size - 1; i >= 0; i-- {
		b = append(b, byte(place>>(8*i)))
	}
	return append(binary.AppendVarint(b, score), url...)
}

func cutPost(p []byte) (score int64, url []byte, err error) {
	if len(p) == 0 || int(p[0]) >= len(p) {
		return 0, nil, errPost
	}
	p = p[1+int(p[0]):]
	score, size := binary.Varint(p)
	if size <= 0 {
		return 0, nil, errPost
	}
	return score, p[size:], nil
}
