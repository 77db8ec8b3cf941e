package vader

import (
	"unicode/utf8"
)

// word holds what the rules need to know about a word of a text.
type word struct {
	*entry
	capitals bool // all letters are capitals, and there is at least one
	not      bool // negates the words after it
}

// split cuts a.text, which padding follows, into a.words, and counts the words in capitals.
func (a *Analyzer) split(n int) (capitals int) {
	text := a.text[:n+padding]
	a.words = a.words[:0]
	for i := 0; i < n; {
		if classOf[text[i]]&space != 0 {
			i++
			continue
		}
		start, seen := i, uint8(0)
		for i < n {
			c := classOf[text[i]]
			if c&(space|high) != 0 {
				if c&space != 0 {
					break
				}
				r, size := utf8.DecodeRune(text[i:n])
				if isSpace(r) {
					break
				}
				i += size - 1
			}
			seen |= c
			i++
		}
		if i == start { // the piece begins with a space that is not ASCII
			_, size := utf8.DecodeRune(text[i:n])
			i += size
			continue
		}
		w := a.word(text, start, i, seen)
		if w.capitals {
			capitals++
		}
		a.words = append(a.words, w)
	}
	return capitals
}

// word looks up text[start:end]. seen holds the classes of its bytes.
func (a *Analyzer) word(text []byte, start, end int, seen uint8) word {
	core := strip(text[start:end])
	w := word{capitals: seen&(upper|lower) == upper}
	p := core
	if seen&high != 0 {
		w.capitals = inCapitals(core)
		a.lowered = appendLower(a.lowered[:0], core)
		p = append(a.lowered, make([]byte, padding)...)
		a.lowered, p = p, p[:len(p)-padding]
	}
	w.entry = &a.lex.words.entries[0]
	if len(p) <= maxWord {
		k := asciiKey(p[:cap(p)], len(p))
		w.entry = a.lex.words.find(&k)
	}
	w.not = w.negates || seen&apostrophe != 0 && hasNot(p)
	return w
}

// inCapitals reports whether p has capitals and no small letters.
func inCapitals(p []byte) bool {
	some := false
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if isLower(r) {
			return false
		}
		some = some || isUpper(r)
		p = p[n:]
	}
	return some
}
