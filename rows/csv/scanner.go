package csv

import "bytes"

// Scanner takes the wanted fields out of a chunk of whole records, one record after the other. After Reset it can be used for
// the next chunk. Only one goroutine at a time may use it. The zero value is ready for Reset.
type Scanner struct {
	data    []byte
	comma   byte
	mapping Mapping

	at  int // where the next record starts
	row int // where the current record starts

	counted int    // line feeds are counted up to here, …
	line    uint64 // … and this line starts or continues here
	seen    uint64 // how many records and empty lines were read

	fields [][]byte // of the current row
	quoted Bits     // which of them were written in quotes
	marked bool     // some were
	err    error

	index   index
	spans   []field // fields of the current row, if it is walked
	scratch []byte  // text of fields with doubled quotes
	run     *Run    // nil until Run is called
}

// Reset prepares the scanner for the records of data, which must start at a record's start and end at a record's end. comma is the
// separator: 0 means ',', and the separator of a header's mark replaces it. firstLine is the line in which data starts. Reset panics on a
// separator that [ParseHeader] refuses.
func (s *Scanner) Reset(data []byte, comma byte, mapping Mapping, firstLine uint64) {
	if mapping.mark.comma != 0 {
		comma = mapping.mark.comma
	}
	comma, err := separator(comma)
	if err != nil {
		panic(err)
	}
	s.data, s.comma, s.mapping = data, comma, mapping
	s.at, s.row, s.counted, s.line, s.seen = 0, 0, 0, firstLine, 0
	s.err = nil
	s.index.forget()
	if cap(s.fields) < len(mapping.sources) {
		s.fields = make([][]byte, len(mapping.sources))
	}
	s.fields = s.fields[:len(mapping.sources)]
	clear(s.fields)
	s.quoted.Reset(len(s.fields))
	s.marked = false
}

// Next continues to the next row, including one for which Err returns an error. After the last row it returns false.
func (s *Scanner) Next() bool {
	for s.at < len(s.data) {
		s.row, s.err = s.at, nil
		if s.marked {
			clear(s.quoted)
			s.marked = false
		}
		s.seen++
		nl := s.lineEnd()
		if nl < 0 {
			if s.walk() {
				s.checkReadable()
				return true
			}
			continue
		}
		to := withoutCR(s.data, s.row, nl)
		s.at = nl + 1
		if s.row < to || s.mapping.blankIsRow() {
			s.cut(s.row, to)
			s.checkReadable()
			return true
		}
	}
	clear(s.fields)
	return false
}

// Fields returns the wanted fields of the row, in the order of the mapping, nil for a column that the file lacks. They are views
// into the chunk or the scanner's memory, valid until the next call of Next. After an error they have no meaning.
func (s *Scanner) Fields() [][]byte { return s.fields }

// Quoted returns which fields of the row were written in quotes. The set changes with each call of Next.
func (s *Scanner) Quoted() *Bits { return &s.quoted }

// Row returns the row as it stands in the chunk, without its line end.
func (s *Scanner) Row() []byte {
	row := bytes.TrimSuffix(s.data[s.row:s.at], []byte{'\n'})
	return row[:withoutCR(row, 0, len(row))]
}

// Line returns the line in which the row starts. It is needed for few rows, so lines are counted only when it is called.
func (s *Scanner) Line() uint64 {
	if s.mapping.mark.records {
		return s.line + s.seen - 1
	}
	s.line += linesIn(s.data[s.counted:s.row])
	s.counted = s.row
	return s.line
}

// checkReadable finds the rows that Unreadable has made.
func (s *Scanner) checkReadable() {
	if s.mapping.mark.records && s.data[s.row] == markByte {
		s.err = &UnreadableError{Reason: string(s.Row()[1:])}
	}
}

// Err returns what is wrong with the row: nil, a *RowError or an *UnreadableError. After an error the scanner can continue with
// the next row.
func (s *Scanner) Err() error { return s.err }

// lineEnd returns the line feed that ends the record at s.at, -1 if the index does not show it: the record is longer than a
// window, or is the last without a line end, or quotes in the window are misplaced.
func (s *Scanner) lineEnd() int {
	x := &s.index
	if s.at < x.end {
		if !x.sound {
			return -1
		}
		if nl := x.lineFeed(s.at); nl >= 0 {
			return nl
		}
	}
	x.cover(s.data, s.at, s.comma)
	if !x.sound {
		return -1
	}
	return x.lineFeed(s.at)
}

// cut takes the fields out of the row data[from:to], which the index covers.
func (s *Scanner) cut(from, to int) {
	x := &s.index
	commas := x.row(to, s.mapping.columns-1)
	if n := len(commas); n != s.mapping.columns-1 && (n != s.mapping.columns || x.base+int(commas[n-1])+1 != to) || x.manyLines &&
		manyLines(s.data[from:to]) {
		s.at = from // such rows are rare, so walk may take the time to say what is wrong
		s.walk()
		return
	}
	// Local copies, because the compiler must assume that every store to fields may change s.
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
	if x.quoted {
		s.unwrap()
	}
}

// unwrap removes the quotes from the fields of a well-formed row: a field that starts with a quote also ends with one.
func (s *Scanner) unwrap() {
	s.scratch = s.scratch[:0]
	for i, p := range s.fields {
		if len(p) < 2 || p[0] != quote {
			continue
		}
		f := field{from: 1, to: len(p) - 1}
		f.doubled = bytes.IndexByte(p[1:f.to], quote) >= 0
		s.fields[i] = s.text(i, p, f)
	}
}

// text returns the text of field i, which is f in data, and marks it if it is quoted.
func (s *Scanner) text(i int, data []byte, f field) []byte {
	if f.doubled || f.from > 0 && data[f.from-1] == quote {
		s.quoted.Add(i)
		s.marked = true
	}
	if !f.doubled {
		return data[f.from:f.to:f.to]
	}
	// If scratch moves when it grows, earlier fields keep the old memory alive and stay valid.
	start := len(s.scratch)
	s.scratch = unquote(s.scratch, data, f)
	return s.scratch[start:len(s.scratch):len(s.scratch)]
}

// walk takes the record at s.at field by field, by searching. It returns false for an empty line that is not a record.
func (s *Scanner) walk() bool {
	data, comma, from, wanted := s.data, s.comma, s.at, s.mapping.last+1
	nl := lineFeed(data, from)
	if from == withoutCR(data, from, nl) && !s.mapping.blankIsRow() {
		s.at = min(nl+1, len(data))
		return false
	}
	spans, count := s.spans[:0], 0
	var f field
	var stray *RowError
	end, start := atComma, from
	for at := from; end == atComma; count++ {
		if at > nl {
			nl = lineFeed(data, at)
		}
		start = at
		f, end, at = walkField(data, at, nl, comma)
		if len(spans) < wanted {
			spans = append(spans, f)
		}
		if s.at = at; f.from > start && stray == nil {
			stray = s.rowsWithin(f, end, count+1)
		}
	}
	s.spans = spans
	lines := 1
	if !s.mapping.mark.records {
		lines += int(linesIn(bytes.TrimSuffix(data[from:s.at], []byte{'\n'})))
	}
	switch {
	case stray != nil:
		s.err = stray
	case end != atLine && end != atEnd:
		s.err = &RowError{Fault: faultOf(end), Field: count, OpenLine: s.lineAt(start), Lines: lines}
	case count == s.mapping.columns, count == s.mapping.columns+1 && f.from == start && f.from == f.to:
		s.pick()
	default:
		s.err = &RowError{Fault: OtherFields, Field: count, Need: s.mapping.columns, Lines: lines}
	}
	return true
}

// lineAt returns the line of a byte of the record.
func (s *Scanner) lineAt(at int) uint64 {
	if s.mapping.mark.records {
		return s.Line()
	}
	return s.Line() + linesIn(s.data[s.row:at])
}

func linesIn(p []byte) uint64 { return uint64(bytes.Count(p, []byte{'\n'})) }

// pick takes the wanted fields out of the spans.
func (s *Scanner) pick() {
	s.scratch = s.scratch[:0]
	for i, source := range s.mapping.sources {
		if source >= 0 {
			s.fields[i] = s.text(i, s.data, s.spans[source])
		}
	}
}
