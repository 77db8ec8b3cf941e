package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// This file handles lines that end in carriage returns, as old Macs wrote them. They become line feeds before anything is cut.
// So chunks and parsers know only one kind of line end, and files with line feeds pay nothing. The first line end outside of
// quotes decides. If it is a carriage return alone, then from there on a carriage return, a line feed and both together each
// end a line. In a quoted field they are not changed.

// findLineEnds finds the first line end. If that is a carriage return, c reads through lineEnds from there on.
func (c *Cutter) findLineEnds() error {
	for want := 1 << 10; ; want *= 2 {
		if err := c.fill(min(want, c.maxRecord) + 1); err != nil {
			return err
		}
		l := lineEnds{comma: c.comma}
		at := l.first(c.ahead)
		switch {
		case at < 0 && (c.eof || len(c.ahead) > c.maxRecord):
			return nil // the file has one line, or a record that is too long
		case at < 0 || at+1 == len(c.ahead) && !c.eof:
			continue
		case c.ahead[at] == '\n' || at+1 == len(c.ahead) || c.ahead[at+1] == '\n':
			return nil
		}
		l = lineEnds{r: c.r, comma: c.comma}
		c.ahead = c.ahead[:l.convert(c.ahead)]
		c.r, c.turned = &l, true
		return nil
	}
}

// countReturns adds the lines that end in carriage returns to c.lines. At this point such returns are only in quoted fields;
// the others have become line feeds. Parsers count only line feeds. So a chunk ends after the first record that has such a
// return, and the next chunk begins with the right line.
func (c *Cutter) countReturns(end int) int {
	at := loneReturn(c.ahead[:end])
	if at < 0 {
		return end
	}
	first, _, _ := lastEnd(c.ahead[:end], at, c.comma)
	if first <= at {
		first, _ = recordEnd(c.ahead[:end], first, c.comma)
	}
	c.lines = linesIn(c.ahead[:first])
	for p := c.ahead[:first]; at >= 0; at = loneReturn(p) {
		c.lines++
		p = p[at+1:]
	}
	return first
}

// ErrLineEnds is wrapped by the errors of [Cutter.Next] for a file whose rows end in line feeds first and in carriage returns later.
var ErrLineEnds = errors.New("mixed line ends")

// checkEnds refuses rows that end in a carriage return alone in a file whose first line ended in a line feed, because
// everything up to the next line feed would become one row. A carriage return may also be part of a field. It ends a row if the
// text on both sides, up to the next line end or carriage return, has as many fields as the header. With one column this test
// is impossible, and nothing is refused.
func (c *Cutter) checkEnds(p []byte) error {
	if at := loneReturn(p); at < 0 || at+1 == len(p) {
		return nil
	}
	if c.columns == 0 {
		c.columns = 1
		l := lineEnds{comma: c.comma}
		for _, b := range c.header {
			c.columns += l.separates(b)
		}
	}
	if c.columns == 1 {
		return nil
	}
	l := lineEnds{comma: c.comma}
	fields, line, suspect := 1, c.line, uint64(0) // suspect: the line of an earlier row that a carriage return seems to end
	for i, b := range p {
		before := l.state
		fields += l.separates(b)
		if i+1 < len(p) && (before == inQuoted || b != '\r' && b != '\n' || b == '\r' && p[i+1] == '\n') {
			if b == '\n' {
				line++
			}
			continue
		}
		if suspect > 0 && fields == c.columns {
			return fmt.Errorf(
				"%w: line %d ends in a carriage return alone, and the first line in a line feed; write the file again with one kind of line end",
				ErrLineEnds, suspect)
		}
		switch suspect = 0; {
		case b == '\n':
			line++
			fields = 1
		case fields == c.columns:
			suspect, fields = line, 1
		default:
			if l.state = before; before == fieldStart {
				l.state = inPlain
			}
		}
	}
	return nil
}

// separates advances over b, and returns 1 if b ends a field but not a line.
func (l *lineEnds) separates(b byte) int {
	quoted := l.state == inQuoted || l.state == inGarbage
	l.next(b)
	if b == l.comma && !quoted {
		return 1
	}
	return 0
}

// loneReturn returns the first carriage return that no line feed follows, -1 if there is none.
func loneReturn(p []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(p[from:], '\r')
		if i < 0 {
			return -1
		}
		if from += i + 1; from == len(p) || p[from] != '\n' {
			return from - 1
		}
	}
}

// lineEnds is a reader that turns all line ends into line feeds.
type lineEnds struct {
	r        io.Reader
	comma    byte
	state    fieldState
	returned bool // the last byte was a carriage return that ended a line
}

// fieldState is the state of a field before the next byte, by the rules of doc.go.
type fieldState uint8

const (
	fieldStart fieldState = iota
	inPlain
	inQuoted
	afterMark // a quote was seen in a quoted field
	inGarbage // text after a closing quote, until the end of the line
)

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	return l.convert(p[:n]), err
}

// convert changes p in place and returns its new length.
func (l *lineEnds) convert(p []byte) int {
	to := 0
	for _, b := range p {
		ends := l.next(b)
		if ends && b == '\n' && l.returned {
			l.returned = false // the second byte of one line end
			continue
		}
		if l.returned = ends && b == '\r'; ends {
			b = '\n'
		}
		p[to] = b
		to++
	}
	return to
}

// first returns the first line end, -1 if there is none.
func (l *lineEnds) first(p []byte) int {
	if bytes.IndexByte(p, '\r') < 0 && bytes.IndexByte(p, quote) < 0 {
		return bytes.IndexByte(p, '\n')
	}
	for i, b := range p {
		if l.next(b) {
			return i
		}
	}
	return -1
}

// next advances over b, and reports whether b ends a line.
func (l *lineEnds) next(b byte) (ends bool) {
	switch {
	case l.state == inQuoted:
		if b == quote {
			l.state = afterMark
		}
	case l.state == afterMark && b == quote:
		l.state = inQuoted
	case b == '\r' || b == '\n':
		l.state = fieldStart
		return true
	case l.state == inGarbage:
	case b == l.comma:
		l.state = fieldStart
	case l.state == afterMark:
		l.state = inGarbage
	case l.state == fieldStart && b == quote:
		l.state = inQuoted
	default:
		l.state = inPlain
	}
	return false
}
