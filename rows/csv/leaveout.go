package csv

import (
	"io"
)

// Form says how a file differs from CSV with a header. The zero value is CSV with a header.
type Form struct {
	LeaveOut
	Headless  bool     // the first record is a row
	Names     []string // of a headless file's columns, in order; nil: column0, column1, …
	Multiline bool     // quoted fields may hold any lines, also such as look like rows that a stray quote has swallowed
}

// Plain reports whether the form is CSV with a header.
func (f *Form) Plain() bool { return f.LeaveOut == LeaveOut{} && !f.Headless && !f.Multiline }

// LeaveOut says which parts of a file are not records.
type LeaveOut struct {
	First   int  // how many lines at the file's beginning
	Comment byte // begins what is left out up to the end of its line, except in a quoted field; 0: nothing
}

// Reader returns a reader of the records of r. Lines that are left out become empty lines, so all other lines keep their numbers. A line
// in which only blanks come before the comment becomes empty, too.
//
// What is quoted is decided as in the rest of the package (walk.go), so a comment may hold any quotes. If the first line ends in a
// carriage return alone, such carriage returns end lines.
func (o LeaveOut) Reader(r io.Reader, comma byte) (io.Reader, error) {
	comma, err := separator(comma)
	if err != nil {
		return nil, err
	}
	l := &leavingOut{r: r, comma: comma, comment: o.Comment, skip: o.First}
	if o.First > 0 {
		l.at = placeLeft
	}
	return l, nil
}

// place says what the next byte of a file belongs to.
type place uint8

const (
	placeLine    place = iota // a new record
	placeField                // a new field
	placeText                 // a field without quotes
	placeQuoted               // a field in quotes
	placeClosed               // the end of a quoted field, or the second of two quotes in it
	placeEnding               // the line end after a quoted field
	placeGarbage              // the rest of a malformed record
	placeLeft                 // a line that is left out, or the rest of one
)

// mostBlanks is how many blanks at the beginning of a line are held back until it is known whether a comment follows.
const mostBlanks = 1 << 10

type leavingOut struct {
	r       io.Reader
	comma   byte
	comment byte
	skip    int // lines at the beginning that are still left out

	at     place
	blanks int  // read at the beginning of the line and held back
	end    byte // ends lines: line feed or carriage return; 0: no line has ended
	cr     bool // the last byte was a carriage return, and end is 0

	in   []byte
	out  []byte // what was read and not yet returned is out[from:]
	err  error
	from int
}

// Read returns fewer bytes than are asked for rather than waiting for more of a pipe.
func (l *leavingOut) Read(p []byte) (int, error) {
	if l.in == nil {
		l.in = make([]byte, 32<<10)
	}
	for empty := 0; l.from == len(l.out); empty++ {
		if l.err != nil {
			return 0, l.err
		}
		if empty == 100 {
			return 0, io.ErrNoProgress
		}
		n, err := l.r.Read(l.in)
		l.out, l.from = l.out[:0], 0
		for _, b := range l.in[:n] {
			l.take(b)
		}
		if n > 0 {
			empty = 0
		}
		if l.err = err; err != nil && l.at == placeLine {
			l.release()
		}
	}
	n := copy(p, l.out[l.from:])
	l.from += n
	return n, nil
}

// release writes the blanks that were held back.
func (l *leavingOut) release() {
	for range l.blanks {
		l.out = append(l.out, ' ')
	}
	l.blanks = 0
}

func (l *leavingOut) take(b byte) {
	if l.cr { // a carriage return is the first line end, unless it is half of one
		l.cr = false
		if b != '\n' {
			l.end = '\r'
			l.line()
		}
	}
	switch {
	case l.at == placeQuoted:
		if l.out = append(l.out, b); b == quote {
			l.at = placeClosed
		}
		return
	case b == '\n':
		if l.end == 0 {
			l.end = '\n'
		}
		l.release()
		l.out = append(l.out, b)
		l.line()
		return
	case b == '\r' && l.end != '\n':
		l.release()
		l.out = append(l.out, b)
		if l.cr = l.end == 0; !l.cr {
			l.line()
		}
		return
	case l.at == placeLeft:
		return
	case l.comment != 0 && b == l.comment && l.at != placeGarbage && l.at != placeEnding:
		l.blanks, l.at = 0, placeLeft
		return
	case b == ' ' && l.at == placeLine && b != l.comma && l.comment != 0 && l.blanks < mostBlanks:
		l.blanks++
		return
	}
	blank := l.blanks > 0
	l.release()
	l.out = append(l.out, b)
	switch l.at {
	case placeGarbage:
	case placeClosed, placeEnding:
		switch {
		case b == quote && l.at == placeClosed:
			l.at = placeQuoted
		case b == l.comma && l.at == placeClosed:
			l.at = placeField
		case b == '\r' && l.at == placeClosed:
			l.at = placeEnding
		default:
			l.at = placeGarbage
		}
	case placeLine, placeField:
		switch {
		case b == quote && !blank:
			l.at = placeQuoted
		case b == l.comma:
			l.at = placeField
		default:
			l.at = placeText
		}
	case placeText:
		if b == l.comma {
			l.at = placeField
		}
	}
}

// line begins a line.
func (l *leavingOut) line() {
	l.at = placeLine
	if l.skip > 0 {
		if l.skip--; l.skip > 0 {
			l.at = placeLeft
		}
	}
}

// Count returns the number of fields of the first record in data that is not an empty line. It returns 0 if there is none.
func Count(data []byte, comma byte) (n int) {
	comma, err := separator(comma)
	if err != nil {
		return 0
	}
	at := 0
	for at < len(data) && (data[at] == '\n' || data[at] == '\r') {
		at++
	}
	if at == len(data) {
		return 0
	}
	for nl, end := -1, atComma; end == atComma; n++ {
		if at > nl {
			nl = lineFeed(data, at)
		}
		_, end, at = walkField(data, at, nl, comma)
	}
	return n
}
