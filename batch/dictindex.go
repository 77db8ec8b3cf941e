package batch

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// shortKey is the longest value that is its own key: most codes, years and flags fit in one register, so that finding them
// compares two words and never touches the text.
const shortKey = 8

// dictKey is a value of at most shortKey bytes packed into a word, or the hash of a longer one. With the length it is
// exact for the short ones.
type dictKey struct {
	word uint64
	size uint32
}

// noKey equals no value's key: no value is that long.
var noKey = dictKey{size: ^uint32(0)}

// dictSlot is a place of the hash table; code is one more than the code, so that an empty slot is zero.
type dictSlot struct {
	word uint64
	size uint32
	code uint32
}

// dictIndex finds the code of a value: an open-addressing table with linear probing, at most half full. Codes do not depend
// on the hash, so it is seeded: whoever makes up a file cannot make up one that collides.
type dictIndex struct {
	slots []dictSlot // a power of two
	used  int
	seed  uint64
	long  maphash.Seed
}

const smallIndex = 1 << 9

func newDictIndex() dictIndex {
	long := maphash.MakeSeed()
	return dictIndex{slots: make([]dictSlot, smallIndex), seed: maphash.Bytes(long, nil) | 1, long: long}
}

func (x *dictIndex) key(v []byte) dictKey {
	n := len(v)
	switch {
	case n > shortKey:
		return dictKey{maphash.Bytes(x.long, v), uint32(n)}
	case n >= 4:
		// Two loads that overlap cover 4 to 8 bytes; for one length they determine the value.
		low, high := binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[n-4:])
		return dictKey{uint64(high)<<32 | uint64(low), uint32(n)}
	case n > 0:
		return dictKey{uint64(v[0]) | uint64(v[n/2])<<8 | uint64(v[n-1])<<16, uint32(n)}
	}
	return dictKey{}
}

// home is where the search for a key starts. The product of two words, folded, mixes every bit into every other.
func (x *dictIndex) home(k dictKey) uint64 {
	high, low := bits.Mul64(k.word^x.seed, uint64(k.size)^0x9e3779b97f4a7c15)
	return (high ^ low) & uint64(len(x.slots)-1)
}

func (x *dictIndex) find(k dictKey, v []byte, entries *heap) (code uint32, found bool) {
	mask := uint64(len(x.slots) - 1)
	for at := x.home(k); ; at = (at + 1) & mask {
		s := &x.slots[at&uint64(len(x.slots)-1)]
		if s.code == 0 {
			return 0, false
		}
		if s.word == k.word && s.size == k.size && (k.size <= shortKey || bytes.Equal(entries.at(int(s.code-1)), v)) {
			return s.code - 1, true
		}
	}
}

// insert adds a key that is not there.
func (x *dictIndex) insert(k dictKey, code uint32) {
	if 2*(x.used+1) > len(x.slots) {
		x.grow()
	}
	x.used++
	x.place(dictSlot{k.word, k.size, code + 1})
}

func (x *dictIndex) place(s dictSlot) {
	mask := uint64(len(x.slots) - 1)
	at := x.home(dictKey{s.word, s.size})
	for x.slots[at].code != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = s
}

// grow places the slots in the order of their codes: then the newest is always the last that was placed, which
// removeNewest depends on.
func (x *dictIndex) grow() {
	ordered := make([]dictSlot, x.used)
	for _, s := range x.slots {
		if s.code != 0 {
			ordered[s.code-1] = s
		}
	}
	x.slots = make([]dictSlot, 2*len(x.slots))
	for _, s := range ordered {
		x.place(s)
	}
}

// removeNewest takes out the key that was inserted last. Nothing was placed after it, so no other key's search passes over
// its slot, and emptying it undoes the insertion exactly: no tombstones.
func (x *dictIndex) removeNewest(k dictKey, code uint32) {
	mask := uint64(len(x.slots) - 1)
	at := x.home(k)
	for x.slots[at].code != code+1 {
		at = (at + 1) & mask
	}
	x.slots[at] = dictSlot{}
	x.used--
}

// reset empties the table. One that a single batch of many values made large is given up when the next ones do not need
// it, or clearing it would cost every small batch what that one did.
func (x *dictIndex) reset(used int) {
	x.used = 0
	if len(x.slots) > smallIndex && used*16 < len(x.slots) {
		x.slots = make([]dictSlot, len(x.slots)/2)
		return
	}
	clear(x.slots)
}
