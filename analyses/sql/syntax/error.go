package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with a statement, and where. Every step from the text to a plan reports its errors as an Error.
type Error struct {
	At           Pos
	Line, Column int // from 1; columns count characters
	Message      string
	Hint         string   // what to write instead; may be empty
	Excerpt      string   // the line, or the part of it around the error
	Columns      []string // names of columns in the expression at the error, without those of the expressions around it
	Table        string   // the name that no table has; "" for other errors
	Text         bool     // one of the types that do not fit is TEXT
	Unread       string   // the column that is used here, and whose type in a file has no counterpart in SQL; "" for other errors
	Caret        string   // spaces and tabs up to the error's place in Excerpt, then ^
}

// excerptLength is how many bytes of a line a message shows on each side of the error.
const excerptLength = 60

// NewError makes an error at a position of text.
func NewError(text string, at Pos, message, hint string) *Error {
	p := min(max(int(at), 0), len(text))
	start := strings.LastIndexByte(text[:p], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[p:], '\n'); i >= 0 {
		end = p + i
	}
	e := &Error{At: Pos(p), Message: message, Hint: hint}
	e.Line = strings.Count(text[:start], "\n") + 1
	e.Column = utf8.RuneCountInString(text[start:p]) + 1
	from, to := start, end
	if p-start > excerptLength {
		for from = p - excerptLength; from < p && !utf8.RuneStart(text[from]); from++ {
		}
	}
	if end-p > excerptLength {
		for to = p + excerptLength; to > p && !utf8.RuneStart(text[to]); to-- {
		}
	}
	e.Excerpt = strings.TrimRight(text[from:to], "\r")
	e.Caret = strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, text[from:p]) + "^"
	return e
}

// CauseStatement is the cause of a session that failed because its statement cannot be carried out, for some row or at all.
const CauseStatement = "statement"

// Fields says the same as the text, for programs; see protocol.Fields.
func (e *Error) Fields() map[string]string {
	return map[string]string{"cause": CauseStatement, "text": e.Error()}
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d, column %d: %s\n    %s\n    %s", e.Line, e.Column, e.Message, e.Excerpt, e.Caret)
	if e.Hint != "" {
		b.WriteString("\n    " + e.Hint)
	}
	return b.String()
}

// Nearest returns the candidate that name most likely stands for, "" if none is close. Close means at most one change, two
// for names of six letters or more, and none for less than three. Of equally close candidates the first wins.
func Nearest(name string, candidates []string) string {
	name = strings.ToLower(name)
	best, distance := "", min(2, len(name)/3)+1
	for _, c := range candidates {
		if d := edits(name, strings.ToLower(c), distance); d < distance && d < len(c) {
			best, distance = c, d
		}
	}
	return best
}

// edits counts the insertions, removals, replacements and swaps of neighbours that turn a into b. It gives up at limit.
func edits(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 64 {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
