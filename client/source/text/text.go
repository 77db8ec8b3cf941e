package text

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"posta.dev/posta/rows/csv"
)

// MaxFirstLine is how many bytes of a file are looked at.
const MaxFirstLine = 64 << 10

// Want is what is known of a file before it is read.
type Want struct {
	Comma   byte         // the stream's separator; 0 means ','
	Columns []csv.Column // that are needed; nil if they are not known
	Given   byte         // the separator that the user gave; 0 if it has to be detected
	Form    csv.Form
}

// File is a text in UTF-8.
type File struct {
	io.Reader
	Head     []byte // the beginning of the text, without byte order mark: at least the first line, if it is no longer than MaxFirstLine
	Comma    byte   // separates its columns, if it is CSV
	Encoding string // "UTF-16LE", "UTF-16BE"; "" for UTF-8 and what cannot be told from it
	Line     uint64 // the number of the header's line, if it is CSV: 0 if the header was made because the file has none, else 1
}

// Open looks at the beginning of r.
func Open(r io.Reader, want Want) (*File, error) {
	h := &head{r: r}
	if err := h.read(encodingBytes, untilLine); err != nil {
		return nil, err
	}
	f := &File{Line: 1}
	if order, mark := encodingOf(h.bytes); order != nil {
		f.Encoding = order.name
		h = &head{r: &utf16Reader{r: io.MultiReader(bytes.NewReader(h.bytes[mark:]), r), order: order, at: int64(mark)}}
	}
	if err := h.read(MaxFirstLine, untilLine); err != nil {
		return nil, err
	}
	f.Reader = io.MultiReader(bytes.NewReader(h.bytes), h.r)
	f.Head = bytes.TrimPrefix(h.bytes, []byte("\xef\xbb\xbf"))
	f.Comma = want.separator(firstLine(f.Head))
	if want.Form.Plain() {
		return f, nil
	}
	return f, f.reform(io.MultiReader(bytes.NewReader(f.Head), h.r), &want)
}

// reform turns a file with another form into CSV with a header. Lines keep their numbers.
func (f *File) reform(r io.Reader, want *Want) error {
	// Which comments are within quotes depends on the separator. Before the first record nothing is quoted, so with any separator the
	// first record is found, and with it the file's own separator.
	var raw bytes.Buffer
	probe := &head{}
	var err error
	if probe.r, err = want.Form.LeaveOut.Reader(io.TeeReader(io.LimitReader(r, mostProbed), &raw), f.Comma); err != nil {
		return err
	}
	if err := probe.read(MaxFirstLine, untilLine); err != nil {
		return err
	}
	f.Comma = want.separator(firstLine(probe.bytes))
	h := &head{}
	if h.r, err = want.Form.LeaveOut.Reader(io.MultiReader(&raw, r), f.Comma); err != nil {
		return err
	}
	if err := h.read(MaxFirstLine, untilLine); err != nil {
		return err
	}
	f.Head = h.bytes
	if n := csv.Count(h.bytes, f.Comma); want.Form.Headless && n > 0 {
		f.Line = 0
		f.Head = append(append(csv.AppendRecord(nil, names(&want.Form, n), f.Comma), '\n'), h.bytes...)
	}
	f.Reader = io.MultiReader(bytes.NewReader(f.Head), h.r)
	return nil
}

// mostProbed is how many bytes are read in search of the first record.
const mostProbed = 1 << 20

// names returns the names of the n columns of a headless file. Columns beyond those that have names are called as if none had.
func names(f *csv.Form, n int) (names [][]byte) {
	digits := len(strconv.Itoa(n - 1))
	for i := range n {
		if i < len(f.Names) {
			names = append(names, []byte(f.Names[i]))
			continue
		}
		names = append(names, fmt.Appendf(nil, "column%0*d", digits, i))
	}
	return names
}

// head is the beginning of a file.
type head struct {
	r     io.Reader
	bytes []byte
	eof   bool
}

// read reads until it has n bytes, until enough returns true, or to the end of the file. It asks for no more than that, because the writer
// of a pipe may pause after a line.
func (h *head) read(n int, enough func([]byte) bool) error {
	for empty := 0; len(h.bytes) < n && !h.eof && !enough(h.bytes); {
		if cap(h.bytes)-len(h.bytes) == 0 {
			h.bytes = append(make([]byte, 0, max(4<<10, 2*cap(h.bytes))), h.bytes...)
		}
		got, err := h.r.Read(h.bytes[len(h.bytes):cap(h.bytes)])
		h.bytes = h.bytes[:len(h.bytes)+got]
		switch {
		case err == io.EOF:
			h.eof = true
		case err != nil:
			return err
		case got > 0:
			empty = 0
		default:
			if empty++; empty == 100 {
				return io.ErrNoProgress
			}
		}
	}
	return nil
}

// untilLine reports whether the first line that is not empty has ended.
func untilLine(b []byte) bool {
	return bytes.ContainsAny(bytes.TrimLeft(b, "\ufeff\r\n"), "\r\n")
}

// firstLine returns the first line that is not empty.
func firstLine(b []byte) []byte {
	b = bytes.TrimLeft(b, "\r\n")
	if end := bytes.IndexAny(b, "\r\n"); end >= 0 {
		b = b[:end]
	}
	return b[:min(len(b), MaxFirstLine)]
}

// separators are the ones that can be detected.
const separators = ",;\t|"

func (w *Want) separator(header []byte) byte {
	own := w.Comma
	if own == 0 {
		own = ','
	}
	if w.Given != 0 {
		return w.Given
	}
	all := string(own) + strings.ReplaceAll(separators, string(own), "")
	if w.demands() {
		for i := range len(all) {
			if h, err := csv.ParseHeader(header, all[i]); err == nil {
				if _, err := h.Find(w.Columns); err == nil {
					return all[i]
				}
			}
		}
	}
	best, most := own, 1
	for i := range len(all) {
		h, err := csv.ParseHeader(header, all[i])
		if err != nil {
			continue
		}
		if n := h.Columns(); n > most {
			if best, most = all[i], n; best == own {
				return own
			}
		}
	}
	return best
}

// demands reports whether there is a column that the header has to have.
func (w *Want) demands() bool {
	for _, c := range w.Columns {
		if !c.Optional {
			return true
		}
	}
	return false
}
