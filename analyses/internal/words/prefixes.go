package words

// prefixes finds places where one of some words may begin, in any case. It compares the first three bytes of the words, at 32
// places at a time (Intel's Hyperscan calls this method Teddy). The words are divided into eight sets, each with a bit. The
// entry of a nibble has the bits of the sets that have a word with this nibble in this position. So the AND of the entries of
// all six nibbles of three bytes is not 0 if the three bytes begin a word. For a set of one word the converse also holds,
// except for the case of letters.
type prefixes [3]struct{ low, high [16]uint8 }

// prefixBytes is how many bytes of a word are compared. Every word must have at least as many.
const prefixBytes = len(prefixes{})

// prefixText is the minimum length of a text: 32 places, and the bytes after the last place that are compared.
const prefixText = 32 + prefixBytes - 1

// newPrefixes returns the prefixes of words, which must be in lower case.
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
