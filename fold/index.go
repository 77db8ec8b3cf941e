package fold

import (
	"bytes"
	"math/bits"
)

// index finds the row of a key: open addressing with linear probing, at most two thirds full. A slot has the low half of the
// hash and the row + 1, so a search touches a key only when it is very likely the right one.
//
// The slot is chosen by the highest bits of the hash: the lowest have already chosen the partition, and are alike in all
// keys that one aggregator holds.
type index struct {
	slots []uint64 // low half of the hash << 32 | row + 1; 0 is empty
	shift uint
	keys  []byte   // arena, key after key
	ends  []int    // of each row's key in keys
	hash  []uint64 // of each row's key
}

const smallIndex = 1 << 6

func newIndex() index {
	x := index{}
	x.resize(smallIndex)
	return x
}

func (x *index) len() int { return len(x.ends) }

func (x *index) key(row int) []byte {
	start := 0
	if row > 0 {
		start = x.ends[row-1]
	}
	return x.keys[start:x.ends[row]]
}

// find returns the row of key, or the slot where it belongs.
func (x *index) find(key []byte, h uint64) (row int, slot uint64, found bool) {
	mask := uint64(len(x.slots) - 1)
	for slot = h >> x.shift; ; slot++ {
		slot &= mask
		s := x.slots[slot]
		if s == 0 {
			return 0, slot, false
		}
		if row = int(uint32(s)) - 1; uint32(s>>32) == uint32(h) && bytes.Equal(x.key(row), key) {
			return row, slot, true
		}
	}
}

// add appends a row whose key is not there; slot is what find returned.
func (x *index) add(key []byte, h, slot uint64) int {
	row := len(x.ends)
	x.keys = append(x.keys, key...)
	x.ends = append(x.ends, len(x.keys))
	x.hash = append(x.hash, h)
	x.slots[slot] = h<<32 | uint64(row+1)
	if 3*(row+1) > 2*len(x.slots) {
		x.resize(2 * len(x.slots))
	}
	return row
}

func (x *index) resize(size int) {
	x.slots = make([]uint64, size)
	x.shift = uint(64 - bits.TrailingZeros(uint(size)))
	mask := uint64(size - 1)
	for row, h := range x.hash {
		slot := h >> x.shift
		for x.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		x.slots[slot] = h<<32 | uint64(row+1)
	}
}

// reset forgets all keys. The slots shrink step by step when few of them were used, or one large fold would make every
// small one after it pay for clearing them.
func (x *index) reset() {
	used := len(x.ends)
	x.keys, x.ends, x.hash = x.keys[:0], x.ends[:0], x.hash[:0]
	if len(x.slots) > smallIndex && used*16 < len(x.slots) {
		x.resize(len(x.slots) / 2)
		return
	}
	clear(x.slots)
}

func (x *index) memory() int {
	return 8*cap(x.slots) + cap(x.keys) + 8*cap(x.ends) + 8*cap(x.hash)
}
