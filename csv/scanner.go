package csv

import (
	"bytes"
	"fmt"
)

// Scanner takes the wanted fields out of a chunk of whole records, one record after the other. It is used again for the next
// chunk after Reset, by one goroutine at a time; the zero value is ready for Reset.
type Scanner struct {
	data    []byte
	comma   byte
	mapping Mapping

	at    int    // where the next record starts
	line  uint64 // the line of at
	quote int    // where the first quote at or after at is, unless it is before at and must be found again

	fields  [][]byte // of the current row
	rowLine uint64
	err     error

	index   index
	spans   []field // of the current row, where it has quotes
	scratch []byte  // text of fields with doubled quotes
}

// Reset makes the scanner ready for the records of data, which must start and end at a record's start and end. comma is the
// separator (0 means ','), firstLine the line that data starts in. A separator that [ParseHeader] refuses panics here.
func (s *Scanner) Reset(data []byte, comma byte, mapping Mapping, firstLine uint64) {
	comma, err := separator(comma)
	if err != nil {
		panic(err)
	}
	s.data, s.comma, s.mapping = data, comma, mapping
	s.at, s.line, s.quote = 0, firstLine, -1
	s.rowLine, s.err = 0, nil
	s.index.forget()
	if cap(s.fields) < len(mapping.sources) {
		s.fields = make([][]byte, len(mapping.sources))
	}
	s.fields = s.fields[:len(mapping.sources)]
	clear(s.fields)
}

// Next goes on to the next row, also to one that Err has something against. It returns false after the last.
func (s *Scanner) Next() bool {
	for s.at < len(s.data) {
		nl := s.lineEnd()
		if s.quote < s.at {
			s.quote = nextQuote(s.data, s.at)
		}
		s.rowLine, s.err = s.line, nil
		if s.quote < nl {
			s.quoted(nl)
			return true
		}
		from, to := s.at, withoutCR(s.data, s.at, nl)
		s.at = min(nl+1, len(s.data))
		s.line++
		if from < to {
			s.plain(from, to)
			return true
		}
	}
	clear(s.fields)
	return false
}

// Fields returns the wanted fields of the row, in the order of the mapping, nil for a column that the file lacks. They are
// views into the chunk or the scanner's memory, valid until the next call of Next. Without meaning if Err is not nil.
func (s *Scanner) Fields() [][]byte { return s.fields }

// Line returns the line in which the row starts.
func (s *Scanner) Line() uint64 { return s.rowLine }

// Err returns what is wrong with the row, nil or a *RowError. The scanner goes on with the next row all the same.
func (s *Scanner) Err() error { return s.err }

// lineEnd returns where the first line feed at or after s.at is, and moves the window so that it covers the line if that is
// possible.
func (s *Scanner) lineEnd() int {
	if nl := s.index.lineFeed(s.at); nl >= 0 {
		return nl
	}
	s.index.cover(s.data, s.at, s.comma)
	if nl := s.index.lineFeed(s.at); nl >= 0 {
		return nl
	}
	return lineFeed(s.data, s.index.end)
}

// plain cuts out the fields of the row data[from:to], which has no quotes.
func (s *Scanner) plain(from, to int) {
	x := &s.index
	if to > x.end {
		s.long(from, to)
		return
	}
	commas := x.row(from, to, s.mapping.columns-1)
	if len(commas) < s.mapping.last {
		s.short(len(commas) + 1)
		return
	}
	// Copies, since the compiler must take every store to fields for a change of s.
	data, base, fields := s.data, x.base, s.fields[:len(s.mapping.sources)]
	for i, source := range s.mapping.sources {
		start, end := from, to
		switch {
		case source < 0:
			continue
		case source > 0:
			start = base + int(commas[source-1]) + 1
		}
		if source < len(commas) {
			end = base + int(commas[source])
		}
		fields[i] = data[start:end:end]
	}
}

// long is plain for rows that do not fit the window: fields are long there, so searching for each comma is fast.
func (s *Scanner) long(from, to int) {
	s.spans = s.spans[:0]
	for at := from; len(s.spans) <= s.mapping.last; {
		i := bytes.IndexByte(s.data[at:to], s.comma)
		if i < 0 {
			s.spans = append(s.spans, field{from: at, to: to})
			break
		}
		s.spans = append(s.spans, field{from: at, to: at + i})
		at += i + 1
	}
	s.pick()
}

// quoted takes the record at s.at, in whose first line there is a quote, field by field.
func (s *Scanner) quoted(nl int) {
	data, comma, from, wanted := s.data, s.comma, s.at, s.mapping.last+1
	spans, count, lastFrom := s.spans[:0], 0, 0
	end, firstLine := atComma, nl
	for at := from; end == atComma; count++ {
		if at > nl {
			nl = lineFeed(data, at)
		}
		var f field
		f, end, at = walkField(data, at, nl, comma)
		if len(spans) < wanted {
			spans = append(spans, f)
		}
		s.at, lastFrom = at, f.from
	}
	s.spans = spans
	if s.at <= firstLine+1 {
		s.line++ // nearly all records are one line
	} else {
		s.line += linesIn(data[from:s.at])
	}
	if end == atLine || end == atEnd {
		s.pick()
		return
	}
	s.err = &RowError{Fault: faultOf(end), Field: count, OpenLine: s.rowLine + linesIn(data[from:lastFrom])}
}

func linesIn(p []byte) uint64 { return uint64(bytes.Count(p, []byte{'\n'})) }

// pick takes the wanted fields out of the spans.
func (s *Scanner) pick() {
	if len(s.spans) <= s.mapping.last {
		s.short(len(s.spans))
		return
	}
	s.scratch = s.scratch[:0]
	for i, source := range s.mapping.sources {
		if source < 0 {
			continue
		}
		f := s.spans[source]
		if !f.doubled {
			s.fields[i] = s.data[f.from:f.to:f.to]
			continue
		}
		// If scratch moves when it grows, the fields before keep the old memory alive and stay right.
		start := len(s.scratch)
		s.scratch = unquote(s.scratch, s.data, f)
		s.fields[i] = s.scratch[start:len(s.scratch):len(s.scratch)]
	}
}

// short notes that the row has only have fields; the first column in the file's order that it lacks is named.
func (s *Scanner) short(have int) {
	e := &RowError{Fault: TooFewFields, Field: have, Need: s.mapping.last}
	for i, source := range s.mapping.sources {
		if source >= have && source <= e.Need {
			e.Need, e.Column = source, s.mapping.names[i]
		}
	}
	e.Need++
	s.err = e
}

// Fault is what can be wrong with a row.
type Fault uint8

const (
	TooFewFields   Fault = iota + 1 // it ends before a wanted column
	TextAfterQuote                  // a closing quote is followed by something else than a separator or a line end
	UnclosedQuote                   // a quoted field goes on to the end of the file
)

func faultOf(e ending) Fault {
	if e == unclosed {
		return UnclosedQuote
	}
	return TextAfterQuote
}

// RowError is why a row cannot be used.
type RowError struct {
	Fault    Fault
	Field    int    // the field it happened in, counted from 1; for TooFewFields how many there are
	Need     int    // TooFewFields: the place of the first wanted column that is not there, counted from 1
	Column   string // TooFewFields: its name
	OpenLine uint64 // the others: the line of the opening quote
}

func (e *RowError) Error() string {
	switch e.Fault {
	case TooFewFields:
		return fmt.Sprintf("row has %d field%s, column %s is the %s", e.Field, plural(e.Field), e.Column, ordinal(e.Need))
	case UnclosedQuote:
		return fmt.Sprintf("the quote that opens field %d in line %d is never closed", e.Field, e.OpenLine)
	default:
		return fmt.Sprintf("there is text after the closing quote of field %d, which opens in line %d; write a quote inside a quoted field twice",
			e.Field, e.OpenLine)
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
