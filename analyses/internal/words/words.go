// Package words finds words in texts, in any case.
package words

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// Matcher finds whether a text contains one of some words, in any case: both are compared after unicode.ToLower of every letter.
// It looks at few bytes of the text (Wu and Manber, "A Fast Algorithm for Multi-Pattern Searching", 1994): let m be the length of
// the shortest word. If two bytes of the text are nowhere in the first m bytes of any word, the search can skip m-1 bytes.
// Rejected: one pass per word with bytes.Index would look at every byte five times, and could not ignore case. On a machine with
// vector instructions, texts that are long enough for a vector are searched by the words' prefixes.
type Matcher struct {
	words    [][]byte // in lower case
	shortest int
	shift    [1 << (2 * letterBits)]uint8 // by the last two bytes of a window
	ascii    bool                         // all words are ASCII
	prefixes *prefixes                    // nil if a word is too short, or the machine has no vectors
	lowered  []byte
}

// letterBits is how many low bits of a byte are used. They are the same for both cases of a letter, and differ between
// letters. Other bytes collide with letters, which costs time but does not change the result.
const letterBits = 5

func pair(a, b byte) uint { return uint(a&31)<<letterBits | uint(b&31) }

// New returns a Matcher for words of UTF-8. There must be at least one, and none may be empty. One goroutine at a time uses it.
func New(words []string) *Matcher {
	f := &Matcher{ascii: true, shortest: 256} // shifts must fit a byte
	for _, w := range words {
		low := appendLower(nil, []byte(w))
		f.words = append(f.words, low)
		f.shortest = min(f.shortest, len(low))
		f.ascii = f.ascii && !beyondASCII(low)
	}
	for i := range f.shift {
		f.shift[i] = uint8(max(0, f.shortest-1))
	}
	for _, w := range f.words {
		for i := 1; i < f.shortest; i++ {
			s := &f.shift[pair(w[i-1], w[i])]
			*s = min(*s, uint8(f.shortest-1-i))
		}
	}
	if hasPrefixes && f.shortest >= prefixBytes {
		f.prefixes = newPrefixes(f.words)
	}
	return f
}

// maxKept is how long a text may be for its memory to be used again.
const maxKept = 1 << 20

// In reports whether text contains a word.
func (f *Matcher) In(text []byte) bool {
	found, beyond := f.look(text)
	if found {
		return true
	}
	if !beyond || !f.hides(text) {
		return false
	}
	f.lowered = appendLower(f.lowered[:0], text)
	found = f.search(f.lowered)
	if cap(f.lowered) > maxKept {
		f.lowered = nil
	}
	return found
}

// look finds words as search does. If it finds none, beyond reports whether text has bytes beyond ASCII.
func (f *Matcher) look(text []byte) (found, beyond bool) {
	if f.prefixes != nil {
		for len(text) >= prefixText {
			at, more := f.prefixes.next(text)
			beyond = beyond || more != 0
			if at < 0 {
				return false, beyond
			}
			if f.starts(text[at:]) {
				return true, beyond
			}
			text = text[at+1:]
		}
	}
	return f.search(text), beyond || beyondASCII(text)
}

// hides reports whether text, which has bytes beyond ASCII, may contain a letter that search misses because only
// unicode.ToLower turns it into a letter of a word. For words in ASCII, the only such letters are the Kelvin sign and the
// dotted capital I.
func (f *Matcher) hides(text []byte) bool {
	return !f.ascii || bytes.Contains(text, []byte("\u212a")) || bytes.Contains(text, []byte("\u0130"))
}

// search finds words byte by byte, ignoring only the case of ASCII letters.
func (f *Matcher) search(text []byte) bool {
	if f.shortest < 2 { // the shortest word has no pair of bytes
		for at := range text {
			if f.starts(text[at:]) {
				return true
			}
		}
		return false
	}
	for last := f.shortest - 1; last < len(text); {
		if s := f.shift[pair(text[last-1], text[last])]; s > 0 {
			last += int(s)
			continue
		}
		if f.starts(text[last+1-f.shortest:]) {
			return true
		}
		last++
	}
	return false
}

// starts reports whether text starts with a word.
func (f *Matcher) starts(text []byte) bool {
	for _, w := range f.words {
		if len(w) <= len(text) && equalLower(text[:len(w)], w) {
			return true
		}
	}
	return false
}

func equalLower(text, lower []byte) bool {
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// beyondASCII reports whether text has a byte beyond ASCII. It tests eight bytes at a time.
func beyondASCII(text []byte) bool {
	all := uint64(0)
	for ; len(text) >= 8; text = text[8:] {
		all |= binary.LittleEndian.Uint64(text)
	}
	for _, c := range text {
		all |= uint64(c)
	}
	return all&0x8080808080808080 != 0
}

// appendLower appends text with unicode.ToLower of its letters. Bytes that are not UTF-8 stay as they are.
func appendLower(b, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			b = append(b, text[0])
		} else {
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
		text = text[size:]
	}
	return b
}
