package csv

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A header may begin with a mark. It says how the rows after it differ from the form that the stream declares. The client adds
// it when it cuts a file; no file may begin with it. These are its bytes:
//
//	0x1e   separator   'l', 'o', 'm', 'n' or 'r'   then the header
//	0x1e   separator   'c'   'a' to 'y'            then the header
//
// With 'l', line numbers count line feeds, as everywhere. So they do with 'o', and an empty line is never a row, also in a file of
// one column, because lines that were left out are empty ([LeaveOut]). With 'm', which is 'l' otherwise, and 'n', which is 'o' otherwise, a
// quoted field may hold any lines ([Form.Multiline]). With 'r' they count records, whatever line feeds are in the fields.
// This is for rows that were made from something other than CSV, where one record stands for one line, or one row, of the
// source. With 'c' they also count records, and chunks hold no CSV but columns (package columnar); a node that does not know
// this mark refuses the file. The letter after it says where chunks end: 'a' plus the exponent of 2 of their bytes. Nodes do
// not need it, but a client that resumes an upload does: it compares its header with the one that was sent.
const markByte = '\x1e'

// Marked returns the header after a mark. comma is the separator, 0 means ','. With records, line numbers count records.
func Marked(header []byte, comma byte, records bool) []byte {
	if comma == 0 {
		comma = ','
	}
	counts := byte('l')
	if records {
		counts = 'r'
	}
	return append([]byte{markByte, comma, counts}, header...)
}

// MarkedForm is Marked for a file of text that was read in a form.
func MarkedForm(header []byte, comma byte, f *Form) []byte {
	marked := Marked(header, comma, false)
	left := f.LeaveOut != (LeaveOut{})
	switch {
	case left && f.Multiline:
		marked[2] = 'n'
	case left:
		marked[2] = 'o'
	case f.Multiline:
		marked[2] = 'm'
	}
	return marked
}

// MaxExponent is the largest exponent of [MarkedColumnar].
const MaxExponent = 24

// MarkedColumnar is Marked for chunks that hold columns and end at about 2 to the power of exponent bytes.
func MarkedColumnar(header []byte, comma byte, exponent int) []byte {
	marked := Marked([]byte{'a' + byte(exponent)}, comma, true)
	marked[2] = 'c'
	return append(marked, header...)
}

// IsColumnar reports whether chunks with a header hold columns.
func IsColumnar(header []byte) bool {
	m, _, err := cutMark(header)
	return err == nil && m.columnar
}

// mark is the content of a header's mark. The zero value stands for a header without one.
type mark struct {
	comma     byte
	records   bool
	columnar  bool
	leftOut   bool // empty lines may be lines that were left out
	multiline bool // quoted fields may hold any lines
}

// cutMark removes the mark from a header.
func cutMark(header []byte) (m mark, rest []byte, err error) {
	if len(header) == 0 || header[0] != markByte {
		return mark{}, header, nil
	}
	if len(header) < 3 || strings.IndexByte("lomnrc", header[2]) < 0 {
		return mark{}, nil, fmt.Errorf("%w: it begins with a mark (byte 0x1e) that this version does not know: %.20q", ErrHeader, header)
	}
	of := func(letters string) bool { return strings.IndexByte(letters, header[2]) >= 0 }
	m = mark{comma: header[1], records: of("rc"), columnar: of("c"), leftOut: of("on"), multiline: of("mn")}
	if c := m.comma; c != '\t' && (c < ' ' || c > '~') || c == quote {
		return mark{}, nil, fmt.Errorf("%w: its mark (byte 0x1e) names %q as separator", ErrHeader, c)
	}
	if header = header[3:]; m.columnar {
		if len(header) == 0 || header[0] < 'a' || header[0] > 'a'+MaxExponent {
			return mark{}, nil, fmt.Errorf("%w: its mark (byte 0x1e) does not say where chunks of columns end", ErrHeader)
		}
		header = header[1:]
	}
	return m, header, nil
}

// Unreadable returns a record that the parser rejects with a reason. It replaces a source row that could not be converted, in
// a file whose mark counts records.
func Unreadable(reason string) []byte {
	plain := strings.Map(func(r rune) rune {
		switch r {
		case quote:
			return '\''
		case '\n', '\r':
			return ' '
		}
		return r
	}, reason)
	return append(append([]byte{markByte}, plain...), '\n')
}

// UnreadableError is the error of a row that [Unreadable] has made.
type UnreadableError struct{ Reason string }

func (e *UnreadableError) Error() string { return e.Reason }

// AppendField appends the text of a field. It adds quotes if the text has a quote, a line end or the separator in it, or looks like a
// record of [Unreadable]. An empty text becomes "", and nil becomes an empty field, which is NULL in SQL.
func AppendField(record, text []byte, comma byte) []byte {
	if text != nil && len(text) == 0 {
		return append(record, quote, quote)
	}
	if len(text) == 0 || text[0] != markByte {
		at := len(record)
		if cap(record)-at < len(text) {
			record = slices.Grow(record, len(text))
		}
		if record = record[:at+len(text)]; copyPlain(record[at:], text, comma) {
			return record
		}
		record = record[:at]
	}
	record = append(record, quote)
	for _, b := range text {
		if b == quote {
			record = append(record, quote)
		}
		record = append(record, b)
	}
	return append(record, quote)
}

// copyPlain copies a text to to, which has its length, and reports whether it needs no quotes. Most texts are a few bytes, so words that
// overlap are both faster than a loop over bytes and than a call that copies.
func copyPlain(to, text []byte, comma byte) bool {
	var special uint64
	pattern, n := uint64(comma)*ones, len(text)
	switch to = to[:n]; {
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			w := binary.LittleEndian.Uint64(text[i:])
			binary.LittleEndian.PutUint64(to[i:], w)
			special |= needQuotes(w, pattern)
		}
		w := binary.LittleEndian.Uint64(text[n-8:])
		binary.LittleEndian.PutUint64(to[n-8:], w)
		special |= needQuotes(w, pattern)
	case n >= 4:
		low, high := binary.LittleEndian.Uint32(text), binary.LittleEndian.Uint32(text[n-4:])
		binary.LittleEndian.PutUint32(to, low)
		binary.LittleEndian.PutUint32(to[n-4:], high)
		special = needQuotes(uint64(low)|uint64(high)<<32, pattern)
	case n > 0:
		a, b, c := text[0], text[n/2], text[n-1]
		to[0], to[n/2], to[n-1] = a, b, c
		special = needQuotes((uint64(a)*ones)<<16|uint64(b)<<8|uint64(c), pattern)
	}
	return special == 0
}

// needQuotes returns a word that is not 0 if a byte of w is a quote, a line end or the separator in pattern.
func needQuotes(w, pattern uint64) uint64 {
	a, b, c, d := w^quote*ones, w^'\n'*ones, w^'\r'*ones, w^pattern
	return ((a-ones)&^a | (b-ones)&^b | (c-ones)&^c | (d-ones)&^d) & highs
}

// Alone adds a second name if there is only one, because a record whose only field is NULL would be an empty line.
func Alone(names [][]byte) [][]byte {
	if len(names) != 1 {
		return names
	}
	return [][]byte{names[0], append([]byte("_"), names[0]...)}
}

// AppendRecord appends a record without its line end.
func AppendRecord(record []byte, fields [][]byte, comma byte) []byte {
	if len(fields) == 1 && len(fields[0]) == 0 {
		return append(record, quote, quote) // an empty line would not be a record; see Alone
	}
	for i, text := range fields {
		if i > 0 {
			record = append(record, comma)
		}
		record = AppendField(record, text, comma)
	}
	return record
}

// SeparatorName returns what people call a separator.
func SeparatorName(b byte) string {
	switch b {
	case ',', 0:
		return "commas"
	case ';':
		return "semicolons"
	case '\t':
		return "tabs"
	case '|':
		return "vertical bars"
	}
	return strconv.Quote(string(rune(b)))
}
