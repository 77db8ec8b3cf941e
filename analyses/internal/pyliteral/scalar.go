package pyliteral

import (
	"bytes"
	"math"
	"strconv"
)

// maxDigits bounds the digits of a number. Python has the same limit for integers, because converting them takes quadratic
// time.
const maxDigits = 4300

// scalar reads a number, a constant, or a string with a prefix, which begins with c.
func (r *Reader) scalar(c byte) {
	switch {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		r.number()
	case isText(r.p[r.at:]):
		r.at++
		r.quoted()
	default:
		r.constant()
	}
}

// isText reports whether p begins with a string with prefix u.
func isText(p []byte) bool {
	return len(p) > 1 && p[0]|0x20 == 'u' && (p[1] == '\'' || p[1] == '"')
}

var constants = [][]byte{[]byte("None"), []byte("True"), []byte("False")}

func (r *Reader) constant() {
	rest := r.p[r.at:]
	for _, word := range constants {
		if bytes.HasPrefix(rest, word) && (len(rest) == len(word) || !isWord(rest[len(word)])) {
			r.at += len(word)
			return
		}
	}
	r.expected(r.at, "a value")
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// number reads a number and reports whether it is an integer.
func (r *Reader) number() (integer bool) {
	start := r.at
	if c := r.p[r.at]; c == '-' || c == '+' {
		r.at++
	}
	first := r.at
	whole := r.digits()
	integer = true
	fraction := 0
	if r.at < len(r.p) && r.p[r.at] == '.' {
		r.at++
		integer = false
		fraction = r.digits()
	}
	if whole+fraction == 0 {
		r.expected(start, "a value")
		return false
	}
	if r.at < len(r.p) && r.p[r.at]|0x20 == 'e' {
		integer = false
		r.exponent()
	}
	switch {
	case integer && whole > 1 && r.p[first] == '0' && len(bytes.TrimLeft(r.p[first:r.at], "0")) > 0:
		r.expected(start, "a number without zeros before it")
	case whole > maxDigits:
		r.expected(start, "a number of at most 4300 digits")
	case r.at < len(r.p) && isWord(r.p[r.at]):
		r.expected(r.at, "the end of a number")
	}
	return integer
}

func (r *Reader) exponent() {
	r.at++
	if r.at < len(r.p) && (r.p[r.at] == '-' || r.p[r.at] == '+') {
		r.at++
	}
	if r.digits() == 0 {
		r.expected(r.at, "an exponent")
	}
}

func (r *Reader) digits() (n int) {
	p, at := r.p, r.at
	for at < len(p) && p[at]-'0' <= 9 {
		at++
	}
	n, r.at = at-r.at, at
	return n
}

// isNumber reports whether the next value is a number. It does not read the value.
func (r *Reader) isNumber() bool {
	if r.err != nil || !r.pending || r.at >= len(r.p) {
		return false
	}
	c := r.p[r.at]
	return c-'0' <= 9 || c == '-' || c == '+' || c == '.'
}

// Number reads the next value if it is a number, and returns its text. Otherwise it returns false and reads nothing.
func (r *Reader) Number() (p []byte, ok bool) {
	if !r.isNumber() {
		return nil, false
	}
	start := r.at
	r.pending = false
	r.number()
	return r.p[start:r.at], r.err == nil
}

// Int reads the next value if it is an integer. It returns false if the value does not fit 64 bits, or is something else,
// which it skips.
func (r *Reader) Int() (v int64, ok bool) {
	if !r.isNumber() {
		r.Skip()
		return 0, false
	}
	start := r.at
	r.pending = false
	if !r.number() || r.err != nil {
		return 0, false
	}
	return parseInt(r.p[start:r.at])
}

func parseInt(p []byte) (v int64, ok bool) {
	negative := p[0] == '-'
	if negative || p[0] == '+' {
		p = p[1:]
	}
	u := uint64(0)
	for _, c := range p {
		if u > (math.MaxUint64-9)/10 {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	switch {
	case negative && u <= 1<<63:
		return -int64(u), true
	case !negative && u < 1<<63:
		return int64(u), true
	}
	return 0, false
}

// Float reads the next value if it is a number, whole or not, rounded to the nearest float64. It returns false if the number
// is too large, or the value is something else, which it skips.
func (r *Reader) Float() (v float64, ok bool) {
	if !r.isNumber() {
		r.Skip()
		return 0, false
	}
	start := r.at
	r.pending = false
	r.number()
	if r.err != nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(r.p[start:r.at]), 64)
	return v, err == nil
}

// Bool reads the next value if it is True or False. If the value is something else, Bool skips it, and ok is false.
func (r *Reader) Bool() (v, ok bool) {
	start := r.at
	known := r.err == nil && r.pending && start < len(r.p) && (r.p[start] == 'T' || r.p[start] == 'F')
	r.Skip()
	return known && r.p[start] == 'T', known && r.err == nil
}

// None reads or skips the next value and reports whether it is None.
func (r *Reader) None() bool {
	none := r.err == nil && r.pending && r.at < len(r.p) && r.p[r.at] == 'N'
	r.Skip()
	return none && r.err == nil
}
