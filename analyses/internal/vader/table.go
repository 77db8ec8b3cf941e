package vader

import (
	"encoding/binary"
	"math/bits"
)

// entry is everything the rules ask about a word.
type entry struct {
	key     key
	valence float64
	boost   float64 // added to the valence of a word that follows; 0: not a booster
	rated   bool    // the lexicon has the word
	negates bool
	role    role // its role in idioms, and in rules that name single words
}

// key is a word in lower case: its bytes, padded with zeros, and its length, because a text may contain zeros, too.
type key struct {
	low, high, rest uint64
	size            int
}

// maxWord is the length of the longest word that a key can hold, in bytes. No list has a longer word.
const maxWord = 24

// table finds a word's entry: open addressing with linear probing, at most a quarter full. Most words of a text are in no list,
// and the search for most of these ends at an empty slot at once. A slot also holds some bits of the hash, so that the other
// searches hardly ever look at a wrong entry.
type table struct {
	slots   []uint32 // 16 bits of the hash << 16 | number of the entry; 0 is empty
	entries []entry  // entry 0 stands for all words that are in no list
}

const (
	slotBits = 15
	maxEntry = 1<<(slotBits-1) - 1
)

func newTable() table {
	return table{slots: make([]uint32, 1<<slotBits), entries: make([]entry, 1)}
}

func (k *key) hash() uint64 {
	hi, lo := bits.Mul64(k.low^0x9e3779b97f4a7c15, k.high^0xc2b2ae3d27d4eb4f)
	h := hi ^ lo
	if k.rest != 0 {
		h ^= k.rest * 0x9fb21c651e98df25
	}
	return h * 0x9e3779b97f4a7c15
}

func (t *table) find(k *key) *entry {
	h := k.hash()
	tag := uint32(h) & 0xffff
	for at := h >> (64 - slotBits); ; at++ {
		s := t.slots[at&(1<<slotBits-1)]
		if s == 0 {
			return &t.entries[0]
		}
		if s>>16 == tag {
			if e := &t.entries[s&0xffff]; e.key == *k {
				return e
			}
		}
	}
}

// add returns the entry of a word. It makes one if there is none. The word has at most maxWord bytes.
func (t *table) add(word string) *entry {
	k := keyOf(word)
	if e := t.find(&k); e != &t.entries[0] {
		return e
	}
	if len(word) > maxWord || len(t.entries) > maxEntry {
		panic("vader: the table was made for fewer or shorter words than " + word)
	}
	t.entries = append(t.entries, entry{key: k})
	h := k.hash()
	at := h >> (64 - slotBits)
	for t.slots[at&(1<<slotBits-1)] != 0 {
		at++
	}
	t.slots[at&(1<<slotBits-1)] = uint32(h)&0xffff<<16 | uint32(len(t.entries)-1)
	return &t.entries[len(t.entries)-1]
}

// rate adds a word of the lexicon to the table. It omits an entry of several words, because no word of a text equals it.
func (t *table) rate(word string, valence float64) {
	if len(word) > maxWord {
		return
	}
	e := t.add(word)
	e.valence, e.rated = valence, true
}

func keyOf(word string) key {
	var b [maxWord]byte
	copy(b[:], word)
	return key{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]), len(word)}
}

// asciiKey returns the key of p[:n] in lower case, n from 1 to maxWord. p must have at least eight more bytes after that.
func asciiKey(p []byte, n int) key {
	k := key{size: n}
	switch {
	case n <= 8:
		k.low = lower8(first(p, n))
	case n <= 16:
		k.low, k.high = lower8(binary.LittleEndian.Uint64(p)), lower8(first(p[8:], n-8))
	default:
		k.low, k.high = lower8(binary.LittleEndian.Uint64(p)), lower8(binary.LittleEndian.Uint64(p[8:]))
		k.rest = lower8(first(p[16:], n-16))
	}
	return k
}

// first returns the first n bytes of p as a machine word, n from 1 to 8.
func first(p []byte, n int) uint64 {
	return binary.LittleEndian.Uint64(p) & (^uint64(0) >> (uint(64-8*n) & 63))
}

// lower8 converts eight bytes of ASCII to lower case. Bytes above 0x7f stay.
func lower8(w uint64) uint64 {
	const ones = 0x0101010101010101
	low := w & (0x7f * ones)
	fromA := low + (0x80-'A')*ones
	overZ := low + (0x80-'Z'-1)*ones
	return w | (fromA&^overZ&^w)&(0x80*ones)>>2
}
