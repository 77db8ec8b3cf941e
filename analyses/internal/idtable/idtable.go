// Package idtable maps a few ids to numbers, for facts that look them up millions of times.
package idtable

// Table maps ids to numbers. It uses open addressing and is at most a quarter full: most ids that are looked up are absent, and
// the first slot mostly shows this. The hash is multiplicative, so consecutive ids do not cluster. A Go map takes several times
// as long.
//
// Before a slot, Find reads a bit: four bits belong to each slot, and one in sixteen is set at most. They take a thirty-second of the
// memory of the slots, so they stay in the cache of a core when the slots do not.
type Table struct {
	slots []slot
	bits  []uint64
	shift uint
	used  int
}

type slot struct {
	id     int64
	number int32 // number plus 1; 0: the slot is empty
}

// New returns an empty table.
func New() Table { return sized(16, 60) }

func sized(slots int, shift uint) Table {
	return Table{slots: make([]slot, slots), bits: make([]uint64, slots*bitsPerSlot/64), shift: shift}
}

const (
	bitsPerSlot    = 1 << logBitsPerSlot
	logBitsPerSlot = 2
)

// Len returns the number of ids.
func (t *Table) Len() int { return t.used }

const goldenRatio = 0x9e3779b97f4a7c15

func hash(id int64) uint64 { return uint64(id) * goldenRatio }

// Find returns the number of an id, -1 if the table does not have it.
func (t *Table) Find(id int64) int32 {
	h := hash(id)
	bit := h >> (t.shift - logBitsPerSlot)
	if t.bits[bit/64]>>(bit%64)&1 == 0 {
		return -1
	}
	return t.find(id, h>>t.shift)
}

func (t *Table) find(id int64, home uint64) int32 {
	for at := home; ; at++ {
		s := &t.slots[at&uint64(len(t.slots)-1)]
		if s.number == 0 || s.id == id {
			return s.number - 1
		}
	}
}

// Put adds an id that the table does not have.
func (t *Table) Put(id int64, number int32) {
	if 4*(t.used+1) > len(t.slots) {
		old := t.slots
		*t = sized(2*len(old), t.shift-1)
		for _, s := range old {
			if s.number != 0 {
				t.Put(s.id, s.number-1)
			}
		}
	}
	t.used++
	h := hash(id)
	bit := h >> (t.shift - logBitsPerSlot)
	t.bits[bit/64] |= 1 << (bit % 64)
	at := h >> t.shift
	for t.slots[at&uint64(len(t.slots)-1)].number != 0 {
		at++
	}
	t.slots[at&uint64(len(t.slots)-1)] = slot{id, number + 1}
}
