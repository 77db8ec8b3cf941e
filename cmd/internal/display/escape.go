package display

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text from a file or a network fit for one line of a terminal. It shows control and format characters, which could move the
// cursor or reverse the line, and bytes that are not UTF-8, as Go does ("\n", "\x1b", "\u202e").
func Escape(s string) string {
	clean := true
	for i, r := range s {
		if !printable(r) || r == utf8.RuneError && !validAt(s, i) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 || !printable(r) {
			quoted := strconv.Quote(s[i : i+n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func validAt(s string, i int) bool {
	_, n := utf8.DecodeRuneInString(s[i:])
	return n > 1
}

func printable(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Z, r) || r == '\u00a0'
}
