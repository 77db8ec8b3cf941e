package protocol

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// appendFloat writes a float without an exponent, unless it is very large or very small. The text always looks like a float ("3.0",
// "1e+21"), so that a reader's types do not depend on the values.
func appendFloat(dst []byte, f float64) []byte {
	start := len(dst)
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	dst = strconv.AppendFloat(dst, f, form, -1, 64)
	if !bytes.ContainsAny(dst[start:], ".eIN") {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendJSONText has a fast path for text without escapes, which is nearly all text.
func appendJSONText(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			return appendJSONEscaped(dst, s)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

func appendJSONEscaped(dst []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)                    // the answer is data, not HTML
	if err := enc.Encode(UTF8(s)); err != nil { // for itself it would write an escape
		panic("protocol: encoding/json refuses a string: " + err.Error()) // never happens
	}
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
