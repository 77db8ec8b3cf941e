package recording

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Line is a text that was in a row of the terminal for a while. To is 0 if it was there at the end.
type Line struct {
	Row      int
	Text     string
	From, To time.Duration
}

// Screen is a terminal that never scrolls: it has as many rows as are needed. The zero value is an empty screen.
type Screen struct {
	rows     []string
	row      int
	column   int // in characters
	since    []time.Duration
	gone     []Line
	rest     []byte // of a sequence that is not complete yet
	problems []error
}

// Write takes what a program writes to the terminal at a given time.
func (s *Screen) Write(b []byte, at time.Duration) {
	before := slices.Clone(s.rows)
	b = append(s.rest, b...)
	for s.rest = nil; len(b) > 0; {
		n := s.take(b)
		if n == 0 {
			s.rest = bytes.Clone(b)
			break
		}
		b = b[n:]
	}
	for i := range max(len(before), len(s.rows)) {
		was, is := "", ""
		if i < len(before) {
			was = before[i]
		}
		if i < len(s.rows) {
			is = s.rows[i]
		}
		for len(s.since) <= i {
			s.since = append(s.since, at)
		}
		if was == is {
			continue
		}
		if was != "" {
			s.gone = append(s.gone, Line{i, was, s.since[i], at})
		}
		s.since[i] = at
	}
}

// take takes a character or a sequence from the front of b, and returns its length; 0 if it is not complete.
func (s *Screen) take(b []byte) int {
	switch b[0] {
	case '\r':
		s.column = 0
		return 1
	case '\n':
		s.row, s.column = s.row+1, 0
		return 1
	case 0x1b:
		end := bytes.IndexFunc(b, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
		if end < 0 {
			return 0
		}
		s.sequence(string(b[1 : end+1]))
		return end + 1
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, "")
	}
	line := []rune(s.rows[s.row])
	for len(line) <= s.column {
		line = append(line, ' ')
	}
	line[s.column] = r
	s.rows[s.row] = string(line)
	s.column++
	return n
}

func (s *Screen) sequence(q string) {
	switch n, err := strconv.Atoi(strings.Trim(q, "[A")); {
	case strings.HasSuffix(q, "A") && err == nil && n <= s.row:
		s.row -= n
	case q == "[J" && s.column == 0:
		for i := s.row; i < len(s.rows); i++ {
			s.rows[i] = ""
		}
	default:
		s.problems = append(s.problems, fmt.Errorf("the sequence ESC %q is not known at row %d, column %d", q, s.row, s.column))
	}
}

// Lines returns all lines that were on the terminal, in the order in which they appeared.
func (s *Screen) Lines() ([]Line, error) {
	if len(s.problems) > 0 {
		return nil, s.problems[0]
	}
	all := slices.Clone(s.gone)
	for i, text := range s.rows {
		if text != "" {
			all = append(all, Line{Row: i, Text: text, From: s.since[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b Line) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Row, b.Row)) })
	return all, nil
}

// Width returns how many columns the widest line has.
func Width(lines []Line) (n int) {
	for _, l := range lines {
		n = max(n, utf8.RuneCountInString(l.Text))
	}
	return n
}
