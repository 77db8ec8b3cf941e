package vader

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Classes of bytes, as bits. The classes of a word are those of all its bytes.
const (
	space = 1 << iota
	punct
	upper
	lower
	apostrophe
	high // not ASCII
)

var classOf = func() (classes [256]uint8) {
	for c := range classes {
		switch {
		case isSpace(rune(c)) && c < utf8.RuneSelf:
			classes[c] = space
		case c >= 'A' && c <= 'Z':
			classes[c] = upper
		case c >= 'a' && c <= 'z':
			classes[c] = lower
		case c >= utf8.RuneSelf:
			classes[c] = high
		case c > ' ' && c < 0x7f && (c < '0' || c > '9'):
			classes[c] = punct
		}
	}
	classes['\''] |= apostrophe
	return classes
}()

// isSpace reports whether Python's str.split cuts at r. Unlike unicode.IsSpace it has the four separators of ASCII.
func isSpace(r rune) bool { return r >= 0x1c && r <= 0x1f || unicode.IsSpace(r) }

// isUpper and isLower test a rune as Python's str.isupper does.
func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }

func isLower(r rune) bool {
	return unicode.IsLower(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r)
}

// appendLower appends p in lower case. It may differ from Python's lower case only where a lexicon in ASCII is not affected.
func appendLower(dst, p []byte) []byte {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, p[0])
		case r == 'İ': // its lower case in Python is an i and a combining dot, which is not an i
			dst = append(dst, "i̇"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		p = p[n:]
	}
	return dst
}

// strip returns p without the punctuation around it. If fewer than three characters would remain, it returns p unchanged,
// because p may be an emoticon.
func strip(p []byte) []byte {
	if classOf[p[0]]&punct == 0 && classOf[p[len(p)-1]]&punct == 0 {
		return p
	}
	from, to := 0, len(p)
	for from < to && classOf[p[from]]&punct != 0 {
		from++
	}
	for to > from && classOf[p[to-1]]&punct != 0 {
		to--
	}
	if to-from <= 2 || to-from < 3*utf8.UTFMax && utf8.RuneCount(p[from:to]) <= 2 {
		return p
	}
	return p[from:to]
}

// hasNot reports whether p contains "n't", in any case.
func hasNot(p []byte) bool {
	for i := 1; i+1 < len(p); i++ {
		at := bytes.IndexByte(p[i:len(p)-1], '\'')
		if at < 0 {
			return false
		}
		i += at
		if p[i-1]|0x20 == 'n' && p[i+1]|0x20 == 't' {
			return true
		}
	}
	return false
}
