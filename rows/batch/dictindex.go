package batch

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// dictKey stands for a value. For a value of at most seven bytes it holds these bytes, with the length in the highest byte.
// So most codes, years and flags fit in one register, and finding them compares two words and never reads the text. For a
// longer value it is a hash with the highest bit set.
type dictKey uint64

const longKey dictKey = 1 << 63

// noKey is not a short value's key.
const noKey = longKey

// dictIndex finds the code of a value. It is an open-addressing table with linear probing, at most a quarter full, because a
// second probe is a branch that the processor cannot predict. The slots hold only codes, so slots and keys of a thousand
// entries fit in the first-level cache. Keys in the slots would save a load, but would not fit. The hash is seeded, so nobody
// can craft a file of values that collide; codes do not depend on the seed.
type dictIndex struct {
	slots []uint32  // its length is a power of two; a slot has the code plus 1, 0 is empty
	keys  []dictKey // by code
	seed  uint64
	high  uint64 // a second seed
	long  maphash.Seed
}

const smallIndex = 1 << 9

func newDictIndex() dictIndex {
	long := maphash.MakeSeed()
	return dictIndex{slots: make([]uint32, smallIndex), seed: maphash.Bytes(long, nil), high: maphash.Bytes(long, []byte{1}), long: long}
}

func (x *dictIndex) key(v []byte) dictKey {
	n := len(v)
	switch {
	case n > 16:
		return dictKey(maphash.Bytes(x.long, v)) | longKey
	case n > 8:
		// Two words that overlap, each with a seed, as in wyhash. This takes half the time of maphash.
		high, low := bits.Mul64(binary.LittleEndian.Uint64(v)^x.seed, binary.LittleEndian.Uint64(v[n-8:])^x.high^uint64(n))
		return dictKey(high^low) | longKey
	case n == 8:
		// The word itself, except for one bit. That suffices: home mixes the bits, and find compares the text.
		return dictKey(binary.LittleEndian.Uint64(v)) | longKey
	case n >= 4:
		// Two loads that overlap. Both have the same bytes in the overlap, so OR does not change them.
		low, high := binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[n-4:])
		return dictKey(uint64(low) | uint64(high)<<(uint(8*n-32)&63) | uint64(n)<<56)
	case n > 0:
		return dictKey(uint64(v[0]) | uint64(v[n/2])<<8 | uint64(v[n-1])<<16 | uint64(n)<<56)
	}
	return 0
}

// home returns where the search for a key starts. The product of two words, folded, mixes every bit into every other.
func (x *dictIndex) home(k dictKey) uint64 {
	high, low := bits.Mul64(uint64(k)^x.seed, 0x9e3779b97f4a7c15)
	return high ^ low
}

func (x *dictIndex) find(k dictKey, v []byte, entries *heap) (code uint32, found bool) {
	slots := x.slots
	if len(slots) == 0 { // never true; it shows the compiler that the masked index below needs no check
		return 0, false
	}
	for at := x.home(k); ; at++ {
		s := slots[at&uint64(len(slots)-1)]
		if s == 0 {
			return 0, false
		}
		if x.keys[s-1] == k && (k < longKey || bytes.Equal(entries.at(int(s-1)), v)) {
			return s - 1, true
		}
	}
}

// insert adds a key that the index does not have. Its code is the number of keys before it.
func (x *dictIndex) insert(k dictKey) {
	x.keys = append(x.keys, k)
	if 4*len(x.keys) > len(x.slots) {
		x.grow()
		return
	}
	x.place(k, uint32(len(x.keys)))
}

func (x *dictIndex) place(k dictKey, s uint32) {
	at := x.home(k)
	for x.slots[at&uint64(len(x.slots)-1)] != 0 {
		at++
	}
	x.slots[at&uint64(len(x.slots)-1)] = s
}

// grow places the keys again in the order of their codes. So the newest is still the last one placed, on which truncate
// depends.
func (x *dictIndex) grow() {
	x.slots = make([]uint32, 2*len(x.slots))
	for i, k := range x.keys {
		x.place(k, uint32(i+1))
	}
}

// truncate removes all keys but the first n, newest first. Nothing was placed after the newest key, so no other key's search
// passes its slot. Emptying the slot therefore undoes the insertion exactly, and no tombstone is needed.
func (x *dictIndex) truncate(n int) {
	for i := len(x.keys); i > n; i-- {
		at := x.home(x.keys[i-1])
		for x.slots[at&uint64(len(x.slots)-1)] != uint32(i) {
			at++
		}
		x.slots[at&uint64(len(x.slots)-1)] = 0
	}
	x.keys = x.keys[:n]
}

// reset empties the table. A single batch of many values can make the table large. It shrinks step by step if the next batches
// do not need its size, because clearing a large table is expensive for small batches.
func (x *dictIndex) reset() {
	used := len(x.keys)
	x.keys = x.keys[:0]
	if len(x.slots) > smallIndex && used*16 < len(x.slots) {
		x.slots = make([]uint32, len(x.slots)/2)
		return
	}
	clear(x.slots)
}
