package batch

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// dictKey stands for a value. Equal keys of values of at most 16 bytes are keys of equal values, so finding a code compares words in
// registers, and reads no text. The key of a longer value is a hash.
//
// a has the bytes of a value of less than 8 bytes, with the length in the highest byte. Of 8 to 16 bytes, a has the first 8 and b the last
// 8, which may overlap. n is 0 for less than 8 bytes; else it is the length.
type dictKey struct{ a, b, n uint64 }

// noKey is the key of no value.
var noKey = dictKey{n: 1}

const longest = 16 // of the values that their keys determine

// dictIndex finds the code of a value. It is an open-addressing table with linear probing, at most a quarter full, because a
// second probe is a branch that the processor cannot predict. The slots hold only codes, so slots and keys of a thousand
// entries fit in the first-level cache. Keys in the slots would save a load, but would not fit. The hash is seeded, so nobody
// can craft a file of values that collide; codes do not depend on the seed.
type dictIndex struct {
	slots []uint32  // its length is a power of two; a slot has the code plus 1, 0 is empty
	keys  []dictKey // by code; noKey for an entry that cannot be found
	used  int       // slots that are not empty
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
	case n > longest:
		return dictKey{a: maphash.Bytes(x.long, v), n: uint64(n)}
	case n >= 8:
		return dictKey{binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[n-8:]), uint64(n)}
	case n >= 4:
		// Two loads that overlap. Both have the same bytes in the overlap, so OR does not change them.
		low, high := binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[n-4:])
		return dictKey{a: uint64(low) | uint64(high)<<(uint(8*n-32)&63) | uint64(n)<<56}
	case n > 0: // of fewer than three bytes, some are loaded twice, and masked
		w := uint64(v[0]) | uint64(v[n/2])<<8 | uint64(v[n-1])<<16
		return dictKey{a: w&(1<<(uint(8*n)&63)-1) | uint64(n)<<56}
	}
	return dictKey{}
}

// home returns where the search for a key starts.
func (x *dictIndex) home(k dictKey) uint64 { return mixed(k, x.seed, x.high) }

// mixed is the product of two words, each with a seed, folded: that mixes every bit into every other, as in wyhash.
func mixed(k dictKey, seed, high uint64) uint64 {
	top, low := bits.Mul64(k.a^seed, k.b^high^k.n)
	return top ^ low
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
		if e := &x.keys[s-1]; e.a == k.a && e.b == k.b && e.n == k.n && (k.n <= longest || bytes.Equal(entries.at(int(s-1)), v)) {
			return s - 1, true
		}
	}
}

// known finds the codes of the values data[from[k]:to[k]], and returns how many it has found. It stops at a value that it does not have,
// and at some others, for which find has to be asked.
func (x *dictIndex) known(codes []uint32, data []byte, from, to []uint32) int {
	n := x.knownShort(codes, data, from, to)
	return n + x.knownAny(codes[n:], data, from[n:], to[n:])
}

// knownShort is known for values of 1 to 7 bytes. The keys of such values are one word.
func (x *dictIndex) knownShort(codes []uint32, data []byte, from, to []uint32) int {
	// copies, because the compiler must assume that every store to codes may change x
	slots, keys, seed, high := x.slots, x.keys, x.seed, x.high
	if len(slots) == 0 {
		return 0
	}
	to, codes = to[:len(from)], codes[:len(from)]
	for k, f := range from {
		t := to[k]
		n := uint64(t - f)
		if n-1 >= 7 || t < 8 || int(t) > len(data) {
			return k
		}
		a := binary.LittleEndian.Uint64(data[t-8:t])>>((64-8*n)&63) | n<<56 // as in key
		for at := mixed(dictKey{a: a}, seed, high); ; at++ {
			s := uint(slots[at&uint64(len(slots)-1)]) - 1
			if s >= uint(len(keys)) {
				return k
			}
			if e := &keys[s]; e.a == a && e.n == 0 {
				codes[k] = uint32(s)
				break
			}
		}
	}
	return len(from)
}

// knownAny is known for values of up to longest bytes. Their keys are made without a branch that depends on the length, which may differ
// from row to row.
func (x *dictIndex) knownAny(codes []uint32, data []byte, from, to []uint32) int {
	slots, keys, seed, high := x.slots, x.keys, x.seed, x.high
	if len(slots) == 0 {
		return 0
	}
	to, codes = to[:len(from)], codes[:len(from)]
	for k, f := range from {
		t := to[k]
		n := uint64(t - f)
		if t < 8 || int(t) > len(data) || int(f)+8 > len(data) || n > longest {
			return k
		}
		first, last := binary.LittleEndian.Uint64(data[f:f+8]), binary.LittleEndian.Uint64(data[t-8:t])
		short := uint64(int64(n-8) >> 63) // all ones if n < 8
		key := dictKey{first&^short | (last>>(64-8*n)|n<<56)&short, last &^ short, n &^ short}
		for at := mixed(key, seed, high); ; at++ {
			s := uint(slots[at&uint64(len(slots)-1)]) - 1
			if s >= uint(len(keys)) {
				return k
			}
			if e := &keys[s]; e.a == key.a && e.b == key.b && e.n == key.n {
				codes[k] = uint32(s)
				break
			}
		}
	}
	return len(from)
}

// insert adds a key that the index does not have. Its code is the number of keys before it.
func (x *dictIndex) insert(k dictKey) {
	x.keys = append(x.keys, k)
	x.used++
	if 4*x.used > len(x.slots) {
		x.grow()
		return
	}
	x.place(k, uint32(len(x.keys)))
}

// skip gives the next n codes to entries that are not looked for.
func (x *dictIndex) skip(n int) {
	for range n {
		x.keys = append(x.keys, noKey)
	}
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
		if k != noKey {
			x.place(k, uint32(i+1))
		}
	}
}

// truncate removes all keys but the first n, newest first. Nothing was placed after the newest key, so no other key's search
// passes its slot. Emptying the slot therefore undoes the insertion exactly, and no tombstone is needed.
func (x *dictIndex) truncate(n int) {
	for i := len(x.keys); i > n; i-- {
		if x.keys[i-1] == noKey {
			continue
		}
		at := x.home(x.keys[i-1])
		for x.slots[at&uint64(len(x.slots)-1)] != uint32(i) {
			at++
		}
		x.slots[at&uint64(len(x.slots)-1)] = 0
		x.used--
	}
	x.keys = x.keys[:n]
}

// reset empties the table. A single batch of many values can make the table large. It shrinks step by step if the next batches
// do not need its size, because clearing a large table is expensive for small batches.
func (x *dictIndex) reset() {
	used := x.used
	x.keys, x.used = x.keys[:0], 0
	if len(x.slots) > smallIndex && used*16 < len(x.slots) {
		x.slots = make([]uint32, len(x.slots)/2)
		return
	}
	clear(x.slots)
}
