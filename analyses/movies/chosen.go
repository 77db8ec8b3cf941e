package movies

import "posta.dev/posta/rows/exact"

// chosen is the movies whose ratings and casts are asked for, with what was counted of their ratings since the last flush.
type chosen struct {
	index   idTable
	movies  []chosenMovie
	touched []int32 // those with ratings, each once
}

type chosenMovie struct {
	id    int64
	title string
	sum   exact.Sum
	count int64
}

func newChosen() *chosen { return &chosen{index: newIDTable()} }

func (c *chosen) add(id int64, title []byte) {
	c.index.put(id, int32(len(c.movies)))
	c.movies = append(c.movies, chosenMovie{id: id, title: string(title)})
}

func (c *chosen) rate(n int32, rating float64) {
	m := &c.movies[n]
	if m.count == 0 {
		c.touched = append(c.touched, n)
	}
	m.count++
	m.sum.Add(rating)
}

// idTable finds the number of an id. Every fact asks, and most are told no at the first slot: open addressing, at most a
// quarter full, on a multiplicative hash, so that ids in a row do not cluster.
type idTable struct {
	slots []idSlot
	shift uint
	used  int
}

type idSlot struct {
	id int64
	n  int32 // + 1; 0 is empty
}

func newIDTable() idTable { return idTable{slots: make([]idSlot, 16), shift: 60} }

func (t *idTable) home(id int64) uint64 { return uint64(id) * 0x9e3779b97f4a7c15 >> t.shift }

// find returns the number of an id, -1 if it is not there.
func (t *idTable) find(id int64) int32 {
	for at := t.home(id); ; at++ {
		s := &t.slots[at&uint64(len(t.slots)-1)]
		if s.n == 0 || s.id == id {
			return s.n - 1
		}
	}
}

// put adds an id that is not there.
func (t *idTable) put(id int64, n int32) {
	if 4*(t.used+1) > len(t.slots) {
		old := t.slots
		*t = idTable{slots: make([]idSlot, 2*len(old)), shift: t.shift - 1}
		for _, s := range old {
			if s.n != 0 {
				t.put(s.id, s.n-1)
			}
		}
	}
	t.used++
	at := t.home(id)
	for t.slots[at&uint64(len(t.slots)-1)].n != 0 {
		at++
	}
	t.slots[at&uint64(len(t.slots)-1)] = idSlot{id, n + 1}
}
