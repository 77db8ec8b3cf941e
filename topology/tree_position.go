package topology

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"
)

// remedy turns common complaints of the parser into what to write instead. For a complaint that it does not know it gives a general answer.
// So if a parser uses other words, the advice becomes poorer but never wrong.
func remedy(complaint string) string {
	for _, r := range []struct{ has, write string }{
		{"expected '=' after key", "write NAME = VALUE"},
		{"strings cannot have new lines", "close the string with a quote before the line ends"},
		{"unterminated", "close the string with a quote"},
		{"array", "separate values by commas and close the list with ]"},
		{"close table name", "close the section's name with ]"},
		{"inline table", "separate values by commas and close the table with }"},
		{"at start of value", "write a number, or a text in quotes"},
		{"expected value", "write a number, or a text in quotes"},
		{"expected keyword \"true\"", "write true, or a text in quotes"},
		{"expected keyword \"false\"", "write false, or a text in quotes"},
		{"invalid character at start of key", "write NAME = VALUE or [SECTION]"},
	} {
		if strings.Contains(complaint, r.has) {
			return r.write
		}
	}
	return "correct the text from here on"
}

func firstKeyOffset(e *unstable.Node) int {
	it := e.Key()
	if it.Next() {
		return int(it.Node().Raw.Offset)
	}
	return 0
}

// errorOffset returns where the parser stopped, or the end of the text if the parser does not say.
func (b *treeBuilder) errorOffset(err error) (offset int) {
	offset = len(b.src) - 1
	defer func() { _ = recover() }() // Range panics on a highlight that is not part of the text
	if pe, ok := err.(*unstable.ParserError); ok && pe.Highlight != nil {
		return int(b.parser.Range(pe.Highlight).Offset)
	}
	return offset
}

func (b *treeBuilder) indexLines() {
	b.starts = []int{0}
	for i, c := range b.src {
		if c == '\n' {
			b.starts = append(b.starts, i+1)
		}
	}
}

func (b *treeBuilder) pos(offset int) Pos {
	offset = min(max(offset, 0), len(b.src)-1)
	line := sort.SearchInts(b.starts, offset+1)
	return Pos{Line: line, Col: utf8.RuneCount(b.src[b.starts[line-1]:offset]) + 1}
}

func invalidUTF8(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
