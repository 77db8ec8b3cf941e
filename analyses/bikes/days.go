package bikes

// dayTable finds the number of a rainy day. Every trip asks, and most are told no at the first slot: open addressing, at
// most a quarter full, on a multiplicative hash, so that days in a row do not cluster.
type dayTable struct {
	slots []daySlot
	shift uint
	used  int
}

type daySlot struct {
	day int64
	id  int32 // + 1; 0 is empty
}

func newDayTable() dayTable { return dayTable{slots: make([]daySlot, 16), shift: 60} }

const goldenRatio = 0x9e3779b97f4a7c15

func (t *dayTable) slot(day int64) uint64 { return uint64(day) * goldenRatio >> t.shift }

// find returns the number of a day, -1 if it is not there.
func (t *dayTable) find(day int64) int32 {
	for at := t.slot(day); ; at++ {
		s := &t.slots[at&uint64(len(t.slots)-1)]
		if s.id == 0 || s.day == day {
			return s.id - 1
		}
	}
}

// put adds a day that is not there.
func (t *dayTable) put(day int64, id int32) {
	if 4*(t.used+1) > len(t.slots) {
		old := t.slots
		*t = dayTable{slots: make([]daySlot, 2*len(old)), shift: t.shift - 1}
		for _, s := range old {
			if s.id != 0 {
				t.put(s.day, s.id-1)
			}
		}
	}
	t.used++
	at := t.slot(day)
	for t.slots[at&uint64(len(t.slots)-1)].id != 0 {
		at++
	}
	t.slots[at&uint64(len(t.slots)-1)] = daySlot{day, id + 1}
}
