package csv

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// ErrHeader is wrapped by the errors of [ParseHeader], [Header.Find] and [Cutter.Header]: the file does not begin with a
// suitable header. It is about the whole file, not about a row.
var ErrHeader = errors.New("bad CSV header")

var byteOrderMark = []byte("\xef\xbb\xbf")

// MaxColumns bounds the columns of a header. In a file that is not CSV every byte may be a separator, and each name takes
// memory.
const MaxColumns = 1 << 14

// Header has the names of a file's columns.
type Header struct {
	names []string
	comma byte
	mark  mark
}

// Columns returns the number of columns.
func (h Header) Columns() int { return len(h.names) }

// Column describes a wanted column.
type Column struct {
	Name     string
	Distinct bool // Name is one of [Header.Names]; it is compared without regard to case
	Optional bool // the file may lack it; its field is then nil
	Unused   bool // only the number of rows is needed; the field may be any, or nil

	// Key is the column's key in the objects of JSON Lines if Keyed is set, which knows cases apart and may be empty. Otherwise Name is the
	// key, or a path into the object.
	Key   string
	Keyed bool
}

// ParseHeader reads a header line. A byte order mark before it and a line end after it are skipped. comma is the separator, 0
// means ','. If the header has a mark, the mark's separator replaces comma, see [Marked].
func ParseHeader(line []byte, comma byte) (Header, error) {
	mark, line, err := cutMark(line)
	if err != nil {
		return Header{}, err
	}
	if mark.comma != 0 {
		comma = mark.comma
	}
	comma, err = separator(comma)
	if err != nil {
		return Header{}, fmt.Errorf("%w: %w", ErrHeader, err)
	}
	if err := checkEncoding(line); err != nil {
		return Header{}, err
	}
	line = bytes.TrimPrefix(line, byteOrderMark)
	h := Header{comma: comma, mark: mark}
	for at, nl := 0, -1; ; {
		if at > nl {
			nl = lineFeed(line, at)
		}
		f, end, next := walkField(line, at, nl, comma)
		if end > atEnd {
			return Header{}, fmt.Errorf("%w: column %d has a broken quote: %.60q", ErrHeader, len(h.names)+1, line[at:])
		}
		if len(h.names) == MaxColumns {
			return Header{}, fmt.Errorf("%w: it has more than %d columns; is this a CSV file?", ErrHeader, MaxColumns)
		}
		if f.from == at && bytes.IndexByte(line[f.from:f.to], '\r') >= 0 { // a quoted name may contain anything
			return Header{}, fmt.Errorf(
				"%w: column %d holds a carriage return, so the file's lines end in these; they must end in line feeds: %.60q",
				ErrHeader, len(h.names)+1, line[at:])
		}
		h.names = append(h.names, string(unquote(nil, line, f)))
		if at = next; end == atComma {
			continue
		}
		if at != len(line) {
			return Header{}, fmt.Errorf("%w: it has more than one line: %.60q", ErrHeader, line)
		}
		return h, nil
	}
}

// Find returns the places of columns. A column that the file lacks or has twice is an error, except an optional one that it
// lacks.
func (h Header) Find(columns []Column) (Mapping, error) {
	at := make(map[string]int, len(h.names))
	twice := make(map[string]bool)
	for i, name := range h.names {
		if _, ok := at[name]; ok {
			twice[name] = true
			continue
		}
		at[name] = i
	}
	var distinct map[string]int
	m := Mapping{names: make([]string, len(columns)), sources: make([]int, len(columns)), columns: len(h.names), last: -1, mark: h.mark}
	for i, c := range columns {
		source, ok := at[c.Name]
		if c.Distinct {
			if distinct == nil {
				distinct = h.distinct()
			}
			source, ok = distinct[strings.ToLower(c.Name)]
		}
		switch {
		case !ok && !c.Optional:
			return Mapping{}, fmt.Errorf("%w: there is no column %q; the file has %s%s", ErrHeader, c.Name, h.list(), h.otherSeparator())
		case !ok:
			source = -1
		case !c.Distinct && twice[c.Name]:
			return Mapping{}, fmt.Errorf("%w: column %q is there more than once, rename all but one; the file has %s", ErrHeader, c.Name, h.list())
		}
		m.names[i], m.sources[i], m.last = c.Name, source, max(m.last, source)
	}
	return m, nil
}

// Names returns the names of the columns, made unique by [DistinctNames].
func (h Header) Names() []string { return DistinctNames(h.names) }

// DistinctNames makes names of columns unique without regard to case: the second x becomes x_1. A column without a name is
// called "column" followed by its index, counted from 0.
func DistinctNames(all []string) []string {
	names := make([]string, len(all))
	seen := make(map[string]bool, len(all))
	for _, name := range all {
		seen[strings.ToLower(name)] = true
	}
	used, next := make(map[string]bool, len(all)), map[string]int{}
	for i, name := range all {
		if name == "" {
			name = fmt.Sprintf("column%d", i)
		}
		key := strings.ToLower(name)
		if !used[key] && (all[i] != "" || !seen[key]) {
			names[i], used[key] = name, true
			continue
		}
		for n := next[key] + 1; ; n++ {
			other := fmt.Sprintf("%s_%d", name, n)
			if lower := strings.ToLower(other); !used[lower] && !seen[lower] {
				names[i], used[lower], next[key] = other, true, n
				break
			}
		}
	}
	return names
}

// distinct returns the index of each column by its name in Names.
func (h Header) distinct() map[string]int {
	at := make(map[string]int, len(h.names))
	for i, name := range h.Names() {
		at[strings.ToLower(name)] = i
	}
	return at
}

// list shows the names to people. It shortens them, because a file that is not CSV may have any number of names of any
// length.
func (h Header) list() string {
	const most, longest = 40, 40
	var b strings.Builder
	for i, name := range h.names {
		if i == most {
			fmt.Fprintf(&b, ", … (%d in all)", len(h.names))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if len(name) > longest {
			name = name[:longest] + "…"
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.String()
}

// otherSeparator returns advice for a header of a single column that contains another usual separator, else "".
func (h Header) otherSeparator() string {
	if len(h.names) != 1 {
		return ""
	}
	for _, other := range []byte{';', '\t', '|', ','} {
		if n := strings.Count(h.names[0], string(other)); n > 0 && other != h.comma {
			return fmt.Sprintf(": its columns are separated by %s, and must be by %s; export it again, or convert it",
				SeparatorName(other), SeparatorName(h.comma))
		}
	}
	return ""
}

// Mapping says which columns of a file are wanted.
type Mapping struct {
	names   []string // wanted columns, in the order of Fields
	sources []int    // index of each in the file, -1 if the file lacks it
	columns int      // columns of the file
	last    int      // greatest source, -1 if nothing is wanted
	mark    mark
}

// blankIsRow reports whether an empty line is a row: it is, of a file with one column, whose field is empty then.
func (m *Mapping) blankIsRow() bool { return m.columns == 1 && !m.mark.records && !m.mark.leftOut }

// Columnar reports whether chunks hold columns instead of CSV, see [MarkedColumnar].
func (m *Mapping) Columnar() bool { return m.mark.columnar }

// Separator returns the separator of a header's mark, 0 if it has none.
func (m *Mapping) Separator() byte { return m.mark.comma }

// Columns returns the number of the file's columns.
func (m *Mapping) Columns() int { return m.columns }

// Sources returns the index of each wanted column in the file, -1 if the file lacks it. The result must not be changed.
func (m *Mapping) Sources() []int { return m.sources }

// separator returns the separator, by default ','. It refuses one that would make the grammar ambiguous.
func separator(comma byte) (byte, error) {
	switch comma {
	case 0:
		return ',', nil
	case quote, '\n', '\r':
		return 0, fmt.Errorf("separator %q; use ',' ';' '|' or a tab", comma)
	}
	return comma, nil
}

// unquote returns the text of a field. If the field has doubled quotes, it appends the text to dst; otherwise it returns a
// view.
func unquote(dst, data []byte, f field) []byte {
	p := data[f.from:f.to:f.to]
	if !f.doubled {
		return p
	}
	for {
		i := bytes.IndexByte(p, quote)
		if i < 0 {
			return append(dst, p...)
		}
		dst = append(dst, p[:i+1]...)
		p = p[i+2:]
	}
}
