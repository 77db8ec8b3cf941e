package text

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrEncoding is wrapped by read errors for damaged UTF-16.
var ErrEncoding = errors.New("damaged UTF-16")

// order is the order of the two bytes of UTF-16.
type order struct {
	name string
	binary.ByteOrder
}

var (
	littleEndian = &order{"UTF-16LE", binary.LittleEndian}
	bigEndian    = &order{"UTF-16BE", binary.BigEndian}
)

// encodingBytes is how many bytes encodingOf looks at.
const encodingBytes = 64

// encodingOf returns the order of the bytes if a file begins as UTF-16, and the length of its byte order mark; nil if it begins otherwise.
// UTF-16 without a mark is recognised by the zero bytes between the letters of the header. UTF-32, whose mark begins in the same way, is
// refused elsewhere.
func encodingOf(head []byte) (o *order, mark int) {
	head = head[:min(len(head), encodingBytes)]
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return nil, 0
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return littleEndian, 2
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return bigEndian, 2
	}
	if end := bytes.IndexAny(head, "\r\n"); end >= 0 { // only the header counts, as rows may hold anything
		head = head[:end]
	}
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch {
	case 4*zeros[1] > len(head) && zeros[0] == 0:
		return littleEndian, 0
	case 4*zeros[0] > len(head) && zeros[1] == 0:
		return bigEndian, 0
	}
	return nil, 0
}

// utf16Reader turns UTF-16 into UTF-8. Bytes that are not a character are an error that names their place, because damaged text must not
// pass unnoticed.
type utf16Reader struct {
	r     io.Reader
	order *order
	in    [16 << 10]byte
	have  int    // bytes of in that were not converted yet
	at    int64  // where in the file they are
	out   []byte // UTF-8 that was not read yet
	store []byte
	err   error // of r, returned after all that came before it
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for empty := 0; len(u.out) == 0; {
		if u.err != nil {
			return 0, u.err
		}
		n, err := u.r.Read(u.in[u.have:])
		u.have += n
		u.err = err
		u.convert()
		if n == 0 && err == nil {
			if empty++; empty == 100 {
				return 0, io.ErrNoProgress
			}
		}
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// convert turns the bytes of in into UTF-8, except for a last character that is not complete yet.
func (u *utf16Reader) convert() {
	out, i := u.store[:0], 0
	for ; i+1 < u.have; i += 2 {
		r := rune(u.order.Uint16(u.in[i:]))
		if utf16.IsSurrogate(r) {
			if i+3 >= u.have {
				break
			}
			pair := utf16.DecodeRune(r, rune(u.order.Uint16(u.in[i+2:])))
			if pair == utf8.RuneError {
				u.err = fmt.Errorf("%w: %s at byte %d is half a character; write the file again in UTF-8", ErrEncoding, u.order.name, u.at+int64(i))
				break
			}
			r = pair
			i += 2
		}
		out = utf8.AppendRune(out, r)
	}
	if u.err == io.EOF && i < u.have {
		u.err = fmt.Errorf("%w: %s ends in the middle of a character, at byte %d; copy the file again", ErrEncoding, u.order.name, u.at+int64(i))
	}
	u.have = copy(u.in[:], u.in[i:u.have])
	u.at += int64(i)
	u.out, u.store = out, out
}
