package display

import (
	"strings"
	"unicode"
)

// Width returns how many cells of a terminal a text takes. Combining marks take none; scripts and symbols that terminals draw double take
// two. Width knows blocks, not each exception in them, so a column may be off by a cell. The text is never changed.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide holds the characters that terminals draw two cells wide: Hangul, CJK with its punctuation, full-width forms, and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

// Cut shortens a text to at most the given number of cells; the last one is then "…".
func Cut(s string, cells int) string {
	if len(s) <= cells || Width(s) <= cells {
		return s
	}
	n := 0
	for i, r := range s {
		w := runeWidth(r)
		if n+w > cells-1 {
			return s[:i] + "…"
		}
		n += w
	}
	return s
}

// pad fills a text with blanks up to a number of cells, on its left if right is true.
func pad(s string, cells int, right bool) string {
	missing := cells - Width(s)
	if missing <= 0 {
		return s
	}
	blank := strings.Repeat(" ", missing)
	if right {
		return blank + s
	}
	return s + blank
}
