package answer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// ErrNotJSON is returned by [Answer.AppendJSON] for a value that JSON cannot express.
var ErrNotJSON = errors.New("value has no JSON form")

// AppendJSON appends the answer as JSON, with one row of a query per line. Floats have a point or an exponent and integers
// have neither, so a reader can distinguish them. Bytes that are not UTF-8 become U+FFFD.
func (a *Answer) AppendJSON(b []byte) ([]byte, error) {
	b = appendString(append(b, `{"analysis": `...), a.Analysis)
	b = appendString(append(b, `, "session": `...), a.Session)
	b = append(b, ", \"queries\": {"...)
	var err error
	for i, q := range a.Queries {
		b = appendKey(b, i, q.Name)
		if b, err = q.appendJSON(b); err != nil {
			return nil, fmt.Errorf("query %s: %w", q.Name, err)
		}
	}
	b = append(b, "\n}, \"rejected\": {"...)
	for i, r := range a.Rejected {
		b = r.appendJSON(appendKey(b, i, r.Stream))
	}
	return append(b, "\n}}\n"...), nil
}

// MarshalJSON makes an Answer a json.Marshaler.
func (a *Answer) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil) }

// appendKey begins element i of an object on a new line.
func appendKey(b []byte, i int, name string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return append(appendString(append(b, "\n  "...), name), ": "...)
}

func (q *Query) appendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"columns": [`...)
	for i, c := range q.Columns {
		b = appendString(comma(b, i), c)
	}
	b = append(b, `], "rows": [`...)
	for i, row := range q.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    ["...)
		for j, v := range row {
			var err error
			if b, err = appendValue(comma(b, j), v); err != nil {
				return nil, fmt.Errorf("row %d: %w", i, err)
			}
		}
		b = append(b, ']')
	}
	return append(b, "]}"...), nil
}

func (r *Rejected) appendJSON(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"rows": `...), r.Rows, 10)
	b = append(b, `, "first": [`...)
	for i, f := range r.First {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, "\n    {\"file\": "...), f.File)
		b = strconv.AppendUint(append(b, `, "line": `...), f.Line, 10)
		b = append(appendString(append(b, `, "reason": `...), f.Reason), '}')
	}
	return append(b, "]}"...)
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ", "...)
	}
	return b
}

func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v), nil
	case nil:
		return append(b, "null"...), nil
	case string:
		return appendString(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: %v", ErrNotJSON, v)
		}
		return appendFloat(b, v), nil
	}
	return nil, fmt.Errorf("%w: a %T", ErrNotJSON, v)
}

// appendFloat uses exponents outside of 1e-6 … 1e21, as JavaScript and encoding/json do.
func appendFloat(b []byte, v float64) []byte {
	start, format := len(b), byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, v, format, -1, 64)
	if !bytes.ContainsAny(b[start:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

const hex = "0123456789abcdef"

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			b = appendASCII(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		b = utf8.AppendRune(b, r) // bytes that are not UTF-8 become RuneError
		i += n
	}
	return append(b, '"')
}

func appendASCII(b []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(b, '\\', c)
	case c == '\n':
		return append(b, `\n`...)
	case c == '\r':
		return append(b, `\r`...)
	case c == '\t':
		return append(b, `\t`...)
	case c < 0x20 || c == 0x7f:
		return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	return append(b, c)
}
