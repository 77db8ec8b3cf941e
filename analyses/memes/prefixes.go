package memes

// prefixes finds places where one of some words may begin, in any case, by their first three bytes: 32 places at a time (the way that
// Intel's Hyperscan calls Teddy). Words are in eight sets, of which each has a bit. A nibble's entry is the sets with a word
// that has this nibble there, so the AND of the entries of all six nibbles of three bytes is not 0 if they begin a word; and of a
// set of one word it is not 0 for nothing else, but for the case of letters.
type prefixes [3]struct{ low, high [16]uint8 }

// prefixBytes is how many bytes of a word are looked at, and the least that a word has.
const prefixBytes = len(prefixes{})

// prefixText is the least that a text has: 32 places and what is looked at behind the last.
const prefixText = 32 + prefixBytes - 1

// newPrefixes returns those of words in lower case.
func newPrefixes(words [][]byte) *prefixes {
	t := new(prefixes)
	for i, w := range words {
		for k, c := range w[:prefixBytes] {
			t.add(k, c, i)
			if 'a' <= c && c <= 'z' {
				t.add(k, c-'a'+'A', i)
			}
		}
	}
	return t
}

func (t *prefixes) add(k int, c byte, word int) {
	set := uint8(1) << (word % 8)
	t[k].low[c&15] |= set
	t[k].high[c>>4] |= set
}
