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
//
// Rows can be in the arena without being in the index: a table that is never searched (see Table.appends) pays neither the
// time nor the memory for it. Those that are in it are the first ones, as many as there are hashes; catchUp adds the rest.
type index struct {
	arena
	slots []uint64 // low half of the hash << 32 | row + 1; 0 is empty. None before the first row is indexed
	shift uint
	hash  []uint64 // of each row's key that is in the index
}

const smallIndex = 1 << 6

// find returns the row of key, or the slot where it belongs. All rows are in the index.
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
	row := x.len()
	x.push(key)
	x.enter(row, h, slot)
	return row
}

// enter puts the first row that is not in the index into a slot.
func (x *index) enter(row int, h, slot uint64) {
	x.hash = append(x.hash, h)
	x.slots[slot] = h<<32 | uint64(row+1)
	if 3*(row+1) > 2*len(x.slots) {
		x.resize(2 * len(x.slots))
	}
}

// complete reports whether all rows are in the index.
func (x *index) complete() bool { return len(x.hash) == x.len() && x.slots != nil }

// catchUp enters the rows that were appended without being looked for. It returns one whose key an earlier row has; -1 if there
// is none. Only the earlier one is then found.
func (x *index) catchUp() (twice int) {
	twice = -1
	size := max(smallIndex, len(x.slots))
	for 3*(x.len()+1) > 2*size {
		size *= 2
	}
	x.resize(size)
	for row := len(x.hash); row < x.len(); row++ {
		key := x.key(row)
		h := Hash(key)
		_, slot, found := x.find(key, h)
		if found {
			for twice = row; x.slots[slot] != 0; {
				slot = (slot + 1) & uint64(size-1)
			}
		}
		x.enter(row, h, slot)
	}
	return twice
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
	used := len(x.hash)
	x.arena.reset()
	x.hash = x.hash[:0]
	if len(x.slots) > smallIndex && used*16 < len(x.slots) {
		x.resize(len(x.slots) / 2)
		return
	}
	clear(x.slots)
}

// hashOf returns the hash of a row's key, whether it is in the index or not.
func (x *index) hashOf(row int) uint64 {
	if row < len(x.hash) {
		return x.hash[row]
	}
	return Hash(x.key(row))
}

func (x *index) memory() int {
	return x.arena.memory() + 8*cap(x.slots) + 8*cap(x.hash)
}
