// Package idtable maps a few ids to numbers, for facts that look them up millions of times.
package idtable

// Table maps ids to numbers. It uses open addressing and is at most a quarter full: most ids that are looked up are absent, and
// the first slot mostly shows this. The hash is multiplicative, so consecutive ids do not cluster. A Go map takes several times
// as long.
type Table struct {
	slots []slot
	shift uint
	used  int
}

type slot struct {
	id     int64
	number int32 // number plus 1; 0: the slot is empty
}

// New returns an empty table.
func New() Table { return Table{slots: make([]slot, 16), shift: 60} }

// Len returns the number of ids.
func (t *Table) Len() int { return t.used }

const goldenRatio = 0x9e3779b97f4a7c15

func (t *Table) home(id int64) uint64 { return uint64(id) * goldenRatio >> t.shift }

// Find returns the number of an id, -1 if the table does not have it.
func (t *Table) Find(id int64) int32 {
	for at := t.home(id); ; at++ {
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
		*t = Table{slots: make([]slot, 2*len(old)), shift: t.shift - 1}
		for _, s := range old {
			if s.number != 0 {
				t.Put(s.id, s.number-1)
			}
		}
	}
	t.used++
	at := t.home(id)
	for t.slots[at&uint64(len(t.slots)-1)].number != 0 {
		at++
	}
	t.slots[at&uint64(len(t.slots)-1)] = slot{id, number + 1}
}
