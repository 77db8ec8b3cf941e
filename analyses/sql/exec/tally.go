package exec

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/tail"
	"posta.dev/posta/rows/fold"
)

// tally counts numbers that repeat before they are added to a Histogram. A number has one place. Another number that needs the
// place displaces it to the table.
type tally struct {
	numbers, n [tallyPlaces]int64
}

const (
	tallyBits   = 9
	tallyPlaces = 1 << tallyBits
)

func (c *tally) add(x *aggregate, t *fold.Table, row int, number int64) {
	at := uint64(number) * 0x9e3779b97f4a7c15 >> (64 - tallyBits)
	switch {
	case c.n[at] == 0:
		c.numbers[at] = number
	case c.numbers[at] != number:
		t.AddHistogram(row, x.cell, c.numbers[at], c.n[at])
		c.numbers[at], c.n[at] = number, 0
	}
	c.n[at]++
}

// settle adds what is left to the table.
func (c *tally) settle(x *aggregate, t *fold.Table, row int) {
	for at, n := range c.n {
		if n > 0 {
			t.AddHistogram(row, x.cell, c.numbers[at], n)
		}
	}
	clear(c.n[:])
}

// repeated remembers hashes that were added to a Smallest, so that most of those that repeat are not added again.
type repeated struct {
	seen    [repeatedPlaces]int64 // a hash plus 1
	scratch []byte
	coded   []bool // by code of a column, whether its value has been added
}

const repeatedPlaces = 1 << 12

func (r *repeated) add(x *aggregate, t *fold.Table, row int, hash int64) {
	if place := &r.seen[hash%repeatedPlaces]; *place != hash+1 {
		*place = hash + 1
		t.AddSmallest(row, x.cell, hash)
	}
}

// addHashes adds the hashes of values. Values with a code are hashed once for each code and call.
func (a *Accumulator) addHashes(x *aggregate, t *fold.Table, v *eval.Vector, sel []int32, into []int) {
	if a.repeated == nil {
		a.repeated = &repeated{}
	}
	r := a.repeated
	coded := v.Codes != nil && v.Entries <= len(sel)
	if coded {
		r.coded = longer(r.coded[:0], v.Entries)
	}
	for k, i := range sel {
		if coded {
			known := &r.coded[v.Codes[i]]
			if *known {
				continue
			}
			*known = true
		}
		var hash int64
		hash, r.scratch = tail.DistinctHash(v, i, r.scratch)
		r.add(x, t, into[k], hash)
	}
}

func (a *Accumulator) addNumbers(x *aggregate, t *fold.Table, v *eval.Vector, sel []int32, into []int) {
	if a.tally == nil {
		a.tally = &tally{}
	}
	for k, i := range sel {
		a.tally.add(x, t, into[k], tail.QuartileNumber(v, i))
	}
}
