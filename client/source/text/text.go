package text

import (
	"bytes"
	"io"
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
}

// File is a text in UTF-8.
type File struct {
	io.Reader
	Head     []byte // the beginning of the text, without byte order mark: at least the first line, if it is no longer than MaxFirstLine
	Comma    byte   // separates its columns, if it is CSV
	Encoding string // "UTF-16LE", "UTF-16BE"; "" for UTF-8 and what cannot be told from it
}

// Open looks at the beginning of r.
func Open(r io.Reader, want Want) (*File, error) {
	h := &head{r: r}
	if err := h.read(encodingBytes, untilLine); err != nil {
		return nil, err
	}
	f := &File{}
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
	return f, nil
}

// head is the beginning of a file.
type head struct {
	r     io.Reader
	bytes []byte
	eof   bool
}

// read reads until it has n bytes, until enough returns true, or to the end of the file. It asks for no more than that, because the writer of a
// pipe may pause after a line.
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
