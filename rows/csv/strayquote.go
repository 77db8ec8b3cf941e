package csv

import "bytes"

// mostLines is how many lines a quoted field may have without being looked at. Texts of more lines are rare, and each of them is looked at
// once.
const mostLines = 16

// manyLines reports whether p may hold a field of more than mostLines lines.
func manyLines(p []byte) bool { return len(p) > mostLines && linesIn(p) >= mostLines }

// rowsWithin returns an error if the lines of a quoted field most likely are rows, which a stray quote has swallowed: there are more than
// mostLines of them, and each has as many separators as the header. If the field is not closed as it should be, the record is malformed
// anyway, and half of the lines are enough. Blank lines do not count.
//
// The rule depends only on the record and the header. So it gives the same for any chunks (TestAStrayQuoteIsFoundWhateverTheChunks).
//
// In a file of one column every line could be a row. So there only a malformed record is an error. So it is, too, if the user says that
// texts have many lines.
func (s *Scanner) rowsWithin(f field, end ending, number int) *RowError {
	if !manyLines(s.data[f.from:f.to]) || s.mapping.mark.records {
		return nil
	}
	closed := end <= atEnd
	if closed && (s.mapping.columns == 1 || s.mapping.mark.multiline) {
		return nil
	}
	from := s.row + bytes.LastIndexByte(s.data[s.row:f.from], '\n') + 1
	to := lineFeed(s.data, f.to)
	lines, rows := 0, 0
	for rest := s.data[from:to]; len(rest) > 0; {
		line, behind, _ := bytes.Cut(rest, []byte{'\n'})
		rest = behind
		if withoutCR(line, 0, len(line)) == 0 {
			continue
		}
		lines++
		if bytes.Count(line, []byte{s.comma}) == s.mapping.columns-1 {
			rows++
		} else if closed {
			return nil
		}
	}
	if rows <= mostLines || 2*rows < lines {
		return nil
	}
	return &RowError{Fault: RowsInQuotes, Field: number, OpenLine: s.lineAt(f.from), Lines: lines, Closed: closed}
}
