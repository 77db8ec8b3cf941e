package csv

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// row is one row as a test sees it.
type row struct {
	line   uint64
	fields []string // nil for a row with an error; "\x00absent" for a nil field
	err    string
}

func (r row) String() string { return fmt.Sprintf("line %d: %q %s", r.line, r.fields, r.err) }

const absent = "\x00absent"

// referenceRows implements the grammar of doc.go again, byte by byte and without any of the scanner's code.
func referenceRows(data []byte, comma byte, m Mapping, line uint64) (rows []row) {
	for len(data) > 0 {
		fields, fault, rest := referenceRecord(data, comma)
		record := data[:len(data)-len(rest)]
		if text := strings.TrimSuffix(string(record), "\n"); text != "" && text != "\r" || m.columns == 1 {
			rows = append(rows, referenceRow(record, fields, fault, comma, m, line))
		}
		line += uint64(bytes.Count(record, []byte("\n")))
		data = rest
	}
	return rows
}

func referenceRow(record []byte, fields []string, fault Fault, comma byte, m Mapping, line uint64) row {
	r := row{line: line}
	lines := 1 + strings.Count(strings.TrimSuffix(string(record), "\n"), "\n")
	open := line
	for i, f := range fields {
		if e := referenceStray(record, f, open-line, fault != 0 && i == len(fields)-1, comma, m); e != nil {
			e.Field, e.OpenLine = i+1, open
			r.err = e.Error()
			return r
		}
		open += uint64(strings.Count(f, "\n"))
	}
	trailing := fault == 0 && len(fields) == m.columns+1 && fields[m.columns] == "" &&
		!strings.HasSuffix(strings.TrimRight(string(record), "\r\n"), `"`)
	switch {
	case fault != 0:
		r.err = (&RowError{Fault: fault, Field: len(fields), OpenLine: line + referenceLinesBefore(fields), Lines: lines}).Error()
		return r
	case len(fields) != m.columns && !trailing:
		r.err = (&RowError{Fault: OtherFields, Field: len(fields), Need: m.columns, Lines: lines}).Error()
		return r
	}
	r.fields = []string{}
	for _, s := range m.sources {
		if s < 0 {
			r.fields = append(r.fields, absent)
			continue
		}
		r.fields = append(r.fields, fields[s])
	}
	return r
}

// referenceStray says whether a field, which opens so many lines after the start of its record, has swallowed rows.
func referenceStray(record []byte, text string, open uint64, broken bool, comma byte, m Mapping) *RowError {
	last := open + uint64(strings.Count(text, "\n"))
	if last-open < 16 || m.columns == 1 && !broken {
		return nil
	}
	lines, rows := 0, 0
	for i, line := range strings.Split(string(record), "\n") {
		if uint64(i) < open || uint64(i) > last || line == "" || line == "\r" {
			continue
		}
		lines++
		if strings.Count(line, string([]byte{comma})) == m.columns-1 {
			rows++
		}
	}
	if rows <= 16 || broken && 2*rows < lines || !broken && rows < lines {
		return nil
	}
	return &RowError{Fault: RowsInQuotes, Lines: lines, Closed: !broken}
}

// referenceLinesBefore counts the line feeds in all fields except the last one, which has the fault.
func referenceLinesBefore(fields []string) (n uint64) {
	for _, f := range fields[:len(fields)-1] {
		n += uint64(strings.Count(f, "\n"))
	}
	return n
}

func referenceRecord(data []byte, comma byte) (fields []string, fault Fault, rest []byte) {
	const (
		start = iota
		plain
		quoted
		closing // a quote was seen in a quoted field
		broken
	)
	state, text := start, []byte{}
	endOfLine := func() string {
		if state == plain {
			return strings.TrimSuffix(string(text), "\r")
		}
		return string(text)
	}
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case state == broken:
			if c == '\n' {
				return fields, TextAfterQuote, data[i+1:]
			}
		case state == quoted && c != '"':
			text = append(text, c)
		case state == quoted:
			state = closing
		case state == closing && c == '"':
			text, state = append(text, c), quoted
		case c == comma:
			fields, text, state = append(fields, string(text)), []byte{}, start
		case c == '\n':
			return append(fields, endOfLine()), 0, data[i+1:]
		case state == closing && c == '\r' && (i+1 == len(data) || data[i+1] == '\n'):
		case state == closing:
			fields, state = append(fields, string(text)), broken
		case state == start && c == '"':
			state = quoted
		default:
			text, state = append(text, c), plain
		}
	}
	switch state {
	case quoted:
		return append(fields, string(text)), UnclosedQuote, nil
	case broken:
		return fields, TextAfterQuote, nil
	}
	return append(fields, endOfLine()), 0, nil
}

// scanRows returns what the Scanner makes of data.
func scanRows(s *Scanner, data []byte, comma byte, m Mapping, line uint64) (rows []row) {
	s.Reset(data, comma, m, line)
	for s.Next() {
		r := row{line: s.Line()}
		if err := s.Err(); err != nil {
			r.err = err.Error()
			rows = append(rows, r)
			continue
		}
		r.fields = []string{}
		for _, f := range s.Fields() {
			if f == nil {
				r.fields = append(r.fields, absent)
				continue
			}
			r.fields = append(r.fields, string(f))
		}
		rows = append(rows, r)
	}
	return rows
}

// rubbish returns random CSV of every kind, sound and broken: short texts of the bytes that matter, and sometimes rows that
// are longer than the index window.
func rubbish(rng *rand.Rand, size int) []byte {
	pieces := []string{",", ",", ",", "\n", "\n", "\r\n", "\r", "\"", "\"", "\"\"", ",\"", "\",", "\"\n", "\"\r\n", "a", "bc", "2015-05-05",
		"é", "\x00", "\xff", " ", ";"}
	var b []byte
	quotes := rng.IntN(3) > 0
	for len(b) < size {
		p := pieces[rng.IntN(len(pieces))]
		if !quotes {
			p = strings.ReplaceAll(p, "\"", "q")
		}
		b = append(b, p...)
		if rng.IntN(20_000) == 0 {
			b = append(b, strings.Repeat("long,", window/4)...)
		}
	}
	return b
}

// tidy returns random sound CSV with the given number of columns, with quotes where they are needed and where they are not.
func tidy(rng *rand.Rand, rows, columns int) (data []byte, want [][]string) {
	texts := []string{"", "a", "660.0", "two words", "com,ma", "new\nline", "car\r\nriage", "quo\"te", "\"", "\r", "é",
		strings.Repeat("x", 70)}
	end := []string{"\n", "\r\n"}[rng.IntN(2)]
	for range rows {
		record := make([]string, columns)
		for i := range record {
			record[i] = texts[rng.IntN(len(texts))]
			if i > 0 {
				data = append(data, ',')
			}
			if strings.ContainsAny(record[i], ",\"\r\n") || rng.IntN(10) == 0 || columns == 1 {
				data = append(data, `"`+strings.ReplaceAll(record[i], `"`, `""`)+`"`...)
			} else {
				data = append(data, record[i]...)
			}
		}
		data = append(data, end...)
		want = append(want, record)
	}
	return data, want
}
