// Package csv cuts streams of CSV into chunks of whole records, and scans chunks into the fields an analysis wants.
//
// The standard library's reader is correct and convenient, but returns strings, and every column. Parsing is most of Posta's work per
// byte (design §11). So here fields are views into the chunk, only wanted columns are cut out, and separators, line ends and quotes are
// found 64 bytes at a time. They are searched one by one only where a quote is in the wrong place, and in rows of more than 16 KiB.
// BenchmarkScan and BenchmarkParseTrips show the ratio.
//
//	client                                          parser
//	c := NewCutter(file, ',', 256<<10, 16<<20)      h, err := ParseHeader(header, ',')
//	header, err := c.Header()                       m, err := h.Find(columns)
//	for {                                           s.Reset(chunk, ',', m, firstLine)
//		chunk, firstLine, err := c.Next(nil)        for s.Next() {
//		…                                               if s.Err() != nil { reject s.Line() … continue }
//	}                                                   use s.Fields()
//	                                                }
//
// # Records
//
// A record is as in RFC 4180, with a rule for everything that it leaves open. The rules depend only on the bytes from the
// record's start on, so a stream may be cut anywhere between two records. [Cutter] and [Scanner] share the code that decides
// (walk.go, quotes.go); TestScanOfAnyCutIsTheSame checks this.
//
//   - A field is quoted if its first byte is a quote: the first of the record or the one after a separator. Any other quote
//     is a byte like all others.
//   - An unquoted field ends before the next separator or line feed.
//   - In a quoted field separators and line ends are text, kept as they are; two quotes are one; a single quote closes it.
//   - After the closing quote there must be a separator, a line end or the end of the file. Otherwise the record is
//     malformed: it ends with the next line feed, even if quotes come before that, and the next record starts after it.
//   - A quoted field that is never closed extends to the end of the file, and its record is malformed.
//   - A record ends with a line feed, or with the end of the file. A carriage return before that is part of the line end;
//     elsewhere it is text.
//   - An empty line is not a record (but counts as a line), except in a file of one column: there it is a row whose field is empty.
//   - If the first line of a file ends in a carriage return alone, [Cutter] turns each carriage return outside of quotes into a line
//     feed (lineends.go). [ParseHeader] refuses a header with a carriage return that was not turned.
//   - A byte order mark at the start of the header is skipped. Other encodings than UTF-8 give an error that names them.
//   - A record has as many fields as the header. More or fewer are an error of that row, whichever columns are wanted. A separator
//     behind the last field is allowed, as nothing is lost with it.
//   - A quoted field of more than 16 lines, each of which has as many separators as the header, is a stray quote that has swallowed
//     rows (strayquote.go). It is an error of the file.
//
// Lines are counted by line feeds, from 1 for the header. A record's line is the one in which it starts. In a file whose lines end in
// carriage returns, these count, also within quotes.
//
// A header has a mark if a file has the same columns as its stream, but another form, see [Marked].
//
// The package also has parsers for the values in nearly every row: dates, integers and decimals. They agree with package time
// and strconv to the last bit, see numbers.go and dates.go.
//
// The package starts no goroutines, keeps at most one chunk, and does not panic on any input.
package csv
