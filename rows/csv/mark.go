package csv

import (
	"fmt"
	"strconv"
	"strings"
)

// A header may begin with a mark, which says how the rows behind it differ from what the stream says of its files. Whoever cuts a file sets it;
// no file may begin with it. These are its bytes:
//
//	0x1e   separator   'l' or 'r'   then the header
//
// With 'l' line numbers count line feeds, as everywhere. With 'r' they count records, whatever line feeds are in their fields: for rows that
// were made from something else than CSV, where one record is one line, or one row, of what it was made from.
const markByte = '\x1e'

// Marked returns the header with a mark in front. comma is the separator, 0 means ','. records says what line numbers count.
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

// mark is what the mark of a header says; the zero value is that of a header without one.
type mark struct {
	comma   byte
	records bool
}

// cutMark takes the mark off a header.
func cutMark(header []byte) (m mark, rest []byte, err error) {
	if len(header) == 0 || header[0] != markByte {
		return mark{}, header, nil
	}
	if len(header) < 3 || header[2] != 'l' && header[2] != 'r' {
		return mark{}, nil, fmt.Errorf("%w: it begins with a mark (byte 0x1e) that this version does not know: %.20q", ErrHeader, header)
	}
	m = mark{comma: header[1], records: header[2] == 'r'}
	if c := m.comma; c != '\t' && (c < ' ' || c > '~') || c == quote {
		return mark{}, nil, fmt.Errorf("%w: its mark (byte 0x1e) names %q as separator", ErrHeader, c)
	}
	return m, header[3:], nil
}

// Unreadable returns a record that is rejected for a reason: for a row that could not be made from what it should be made from, in a file whose
// mark counts records.
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

// UnreadableError is why a row is rejected that [Unreadable] has made.
type UnreadableError struct{ Reason string }

func (e *UnreadableError) Error() string { return e.Reason }

// appendField appends the text of a field, in quotes where it needs them: where it has a quote, a line end or the separator in it, and where it
// would look like what [Unreadable] makes.
func appendField(record, text []byte, comma byte) []byte {
	plain := len(text) == 0 || text[0] != markByte
	for _, b := range text {
		if b == quote || b == comma || b == '\n' || b == '\r' {
			plain = false
			break
		}
	}
	if plain {
		return append(record, text...)
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

// AppendRecord appends a record without its line end.
func AppendRecord(record []byte, fields [][]byte, comma byte) []byte {
	if len(fields) == 1 && len(fields[0]) == 0 {
		return append(record, quote, quote) // an empty line is no record
	}
	for i, text := range fields {
		if i > 0 {
			record = append(record, comma)
		}
		record = appendField(record, text, comma)
	}
	return record
}

// SeparatorName is what people call a separator.
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
