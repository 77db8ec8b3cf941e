package fold

import (
	"posta.dev/posta/rows/progress"
)

// index finds the row of a key. It uses open addressing with linear probing, and is at most two thirds full. A slot has the tag of
// the key, which is the high half of its hash, and the row + 1. So a search reads a key only when it is very likely the right one.
//
// The tag also chooses the slot, because the lowest bits of the hash have already chosen the partition, and are equal in all keys
// that one aggregator holds. So slots are in the order of their tags, and can move to a larger index one after the other without
// reading any key, and without a stored hash per row, which took a third of the index.
//
// The keys of rows lie end to end in the order of rows. A key ends where the next one begins, or with its block. Keys that all have the
// same length need no places: see records.
//
// Rows need not be in the slots: a table that is never searched (see Table.appends) pays neither the time nor the memory for
// them. Those in the slots are the first ones; catchUp adds the rest.
type index struct {
	flat    records[byte] // in place of keys and at, if its width is not 0
	keys    blocks
	at      cells[uint64] // by row, the place of its key in keys
	slots   []uint64      // tag << 32 | row + 1; 0 is empty. nil until the first row is indexed
	entered int           // how many rows are in the slots
}

func (x *index) len() int { return x.at.n + x.flat.n }

// held returns how many bytes the keys have.
func (x *index) held() int { return x.keys.held + x.flat.n*x.flat.width }

func (x *index) key(row int) []byte {
	if x.flat.width > 0 {
		return x.flat.at(row)
	}
	at := *x.at.at(row)
	p := x.keys.from(at)
	if row+1 < x.at.n {
		if next := *x.at.at(row + 1); next>>blockShift == at>>blockShift {
			return p[:next-at]
		}
	}
	return p
}

// has reports whether a row has a key. The fixed part of a key says how long the key is, so no key begins with another one. So it does not
// matter where the row's key ends.
func (x *index) has(row int, key []byte) bool {
	if x.flat.width > 0 {
		return sameWords(x.flat.at(row), key)
	}
	p := x.keys.from(*x.at.at(row))
	return len(p) >= len(key) && string(p[:len(key)]) == string(key)
}

// push adds the key of a new row. It copies the key.
func (x *index) push(key []byte) {
	if x.flat.width > 0 {
		x.flat.push(key)
		return
	}
	x.at.push(x.keys.add(key))
}

const smallIndex = 1 << 6

func tagOf(h uint64) uint64 { return h >> 32 }

// home is the slot where the search for a tag begins. It grows with the tag for any number of slots. So this number need not
// be a power of two, and grows by half at a time, which wastes less memory than doubling.
func (x *index) home(tag uint64) uint64 { return tag * uint64(len(x.slots)) >> 32 }

// find returns the row of key, or the slot where it belongs. All rows must be in the index.
func (x *index) find(key []byte, h uint64) (row int, slot uint64, found bool) {
	tag := tagOf(h)
	for slot = x.home(tag); ; {
		s := x.slots[slot]
		if s == 0 {
			return 0, slot, false
		}
		if row = int(uint32(s)) - 1; s>>32 == tag && x.has(row, key) {
			return row, slot, true
		}
		slot = x.after(slot)
	}
}

func (x *index) after(slot uint64) uint64 {
	if slot++; slot < uint64(len(x.slots)) {
		return slot
	}
	return 0
}

// add appends a row whose key the index does not have. slot is the result of find.
func (x *index) add(key []byte, h, slot uint64) int {
	row := x.len()
	x.push(key)
	x.enter(row, h, slot)
	return row
}

// enter puts the first row that is not in the index into a slot.
func (x *index) enter(row int, h, slot uint64) {
	x.slots[slot] = tagOf(h)<<32 | uint64(row+1)
	x.entered++
	if full(row+1, len(x.slots)) {
		x.resize(larger(len(x.slots)))
	}
}

func full(rows, slots int) bool { return 3*rows > 2*slots }

func larger(slots int) int { return slots + slots/2 }

// complete reports whether all rows are in the index.
func (x *index) complete() bool { return x.entered == x.len() && x.slots != nil }

// catchUp adds the rows that were appended without a look-up to the slots. It returns a row whose key an earlier row already
// has, -1 if there is none. find then finds only the earlier row.
func (x *index) catchUp() (twice int) {
	twice = -1
	x.expect(x.len())
	for row := x.entered; row < x.len(); row++ {
		if row%progress.Every == 0 {
			progress.Mark()
		}
		key := x.key(row)
		h := Hash(key)
		_, slot, found := x.find(key, h)
		if found {
			for twice = row; x.slots[slot] != 0; {
				slot = x.after(slot)
			}
		}
		x.enter(row, h, slot)
	}
	return twice
}

// expect makes the slots fit so many rows.
func (x *index) expect(rows int) {
	size := max(smallIndex, len(x.slots))
	for full(rows+1, size) {
		size = larger(size)
	}
	if size != len(x.slots) {
		x.resize(size)
	}
}

func (x *index) resize(size int) {
	old := x.slots
	x.slots = make([]uint64, size)
	for _, s := range old {
		if s == 0 {
			continue
		}
		slot := x.home(s >> 32)
		for x.slots[slot] != 0 {
			slot = x.after(slot)
		}
		x.slots[slot] = s
	}
}

// reset forgets all keys. The slots shrink step by step if few of them were used. Otherwise every small fold after a large one
// would pay for clearing them.
func (x *index) reset() {
	used := x.entered
	x.flat.reset()
	x.keys.reset()
	x.at.reset()
	x.entered = 0
	if len(x.slots) > smallIndex && used*16 < len(x.slots) {
		x.slots = make([]uint64, max(smallIndex, len(x.slots)/2))
		return
	}
	clear(x.slots)
}

func (x *index) memory() int {
	return x.flat.items() + x.keys.memory() + 8*x.at.room() + 8*cap(x.slots)
}
