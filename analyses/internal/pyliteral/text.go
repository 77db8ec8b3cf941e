package pyliteral

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Text reads the next value if it is a string. It returns false if the value is something else, which it skips. The bytes are
// valid until the next call of Text or Reset.
func (r *Reader) Text() (v []byte, ok bool) {
	if r.err != nil || !r.pending || r.at >= len(r.p) {
		return nil, false
	}
	r.pending = false
	if v, ok = r.text(&r.textBuf); !ok && r.err == nil {
		r.pending = true
		r.Skip()
	}
	return v, ok
}

// text reads a string if one begins here. A string with escapes is decoded into buf.
func (r *Reader) text(buf *[]byte) (v []byte, ok bool) {
	if isText(r.p[r.at:]) {
		r.at++
	}
	if c := r.p[r.at]; c != '\'' && c != '"' {
		return nil, false
	}
	v, escaped := r.quoted()
	if escaped && r.err == nil {
		*buf = unescape((*buf)[:0], v)
		v = (*buf)[:len(*buf):len(*buf)]
		if v == nil {
			v = []byte{} // empty, but not nil
		}
	}
	return v, r.err == nil
}

// quoted reads a string that begins here. It returns the bytes between the quotes, and whether these have escapes.
func (r *Reader) quoted() (inner []byte, escaped bool) {
	quote := r.p[r.at]
	start := r.at + 1
	i := start
	for {
		i += toSpecial(r.p[i:], quote)
		if i >= len(r.p) {
			break
		}
		switch c := r.p[i]; c {
		case quote:
			r.at = i + 1
			return r.p[start:i:i], escaped
		case '\\':
			escaped = true
			n := r.escape(i)
			if n == 0 {
				return nil, false
			}
			i += n
		case '\n', '\r', 0:
			r.expected(i, "the closing "+string(quote))
			return nil, false
		default:
			i++
		}
	}
	r.expected(len(r.p), "the closing "+string(quote))
	return nil, false
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// toSpecial returns how many bytes of p come before the first quote, backslash or control byte. It looks at eight bytes at a
// time: keys and names are too short for the library calls that search with vectors.
func toSpecial(p []byte, quote byte) int {
	quotes := uint64(quote) * ones
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		// x-ones borrows into the high bit of a byte that is 0, and w-0x20 into that of a byte below 0x20. The lowest bit that is
		// set is right; higher bits may be wrong.
		q, b := w^quotes, w^'\\'*ones
		if m := ((q-ones)&^q | (b-ones)&^b | (w-0x20*ones)&^w) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(p) && p[i] != quote && p[i] != '\\' && p[i] >= 0x20 {
		i++
	}
	return i
}

// escape returns the length of the escape at i, 0 if it is not valid.
func (r *Reader) escape(i int) int {
	if i+1 >= len(r.p) || r.p[i+1] == 0 {
		return 1 // the fault is after the backslash
	}
	switch c := r.p[i+1]; c {
	case 'N':
		r.expected(i, `an escape other than \N`)
		return 0
	case 'x', 'u', 'U':
		n := hexDigits(c)
		if v, ok := hex(r.p[i+2:], n); !ok || v > utf8.MaxRune {
			r.expected(i, map[byte]string{'x': "two hexadecimal digits", 'u': "four hexadecimal digits",
				'U': "eight hexadecimal digits up to 0010ffff"}[c])
			return 0
		}
		return 2 + n
	case '\r':
		if i+2 < len(r.p) && r.p[i+2] == '\n' {
			return 3
		}
	}
	return 2
}

// hexDigits returns how many digits follow \x, \u and \U.
func hexDigits(c byte) int {
	switch c {
	case 'x':
		return 2
	case 'u':
		return 4
	}
	return 8
}

func hex(p []byte, n int) (v uint32, ok bool) {
	if len(p) < n {
		return 0, false
	}
	for _, c := range p[:n] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		v = v<<4 | uint32(c)
	}
	return v, true
}

var simpleEscapes = [256]byte{'\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11}

// unescape appends a string that quoted has checked, with its escapes decoded.
func unescape(dst, p []byte) []byte {
	for len(p) > 0 {
		if p[0] != '\\' || len(p) == 1 {
			dst, p = append(dst, p[0]), p[1:]
			continue
		}
		switch c := p[1]; {
		case simpleEscapes[c] != 0:
			dst, p = append(dst, simpleEscapes[c]), p[2:]
		case c == '\n':
			p = p[2:]
		case c == '\r':
			if p = p[2:]; len(p) > 0 && p[0] == '\n' {
				p = p[1:]
			}
		case c >= '0' && c <= '7':
			v, n := octal(p[1:])
			dst, p = utf8.AppendRune(dst, v), p[1+n:]
		case c == 'x' || c == 'u' || c == 'U':
			n := hexDigits(c)
			v, _ := hex(p[2:], n)
			dst, p = utf8.AppendRune(dst, rune(v)), p[2+n:]
		default: // Python keeps unknown escapes as they are
			dst, p = append(dst, '\\', c), p[2:]
		}
	}
	return dst
}

// octal reads one to three octal digits.
func octal(p []byte) (v rune, n int) {
	for n < len(p) && n < 3 && p[n] >= '0' && p[n] <= '7' {
		v = v<<3 | rune(p[n]-'0')
		n++
	}
	return v, n
}
