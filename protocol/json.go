package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// appendJSONFloat always writes a float as one ("3.0", "1e+21"), so that a reader's types do not depend on the values.
func appendJSONFloat(dst []byte, f float64) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	if !bytes.ContainsAny(dst[start:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendJSONText takes the short way for text that needs no escape, which is nearly all.
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
	enc.SetEscapeHTML(false) // an answer is data, not a page
	if err := enc.Encode(s); err != nil {
		panic("protocol: encoding/json refuses a string: " + err.Error()) // it has no reason to
	}
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
