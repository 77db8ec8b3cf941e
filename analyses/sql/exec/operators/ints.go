package operators

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
)

// intPartners finds the first of the rows that have a key, where the key is one integer. It is built when all keys are known, and
// is read by any number of goroutines afterwards. Integers that lie close together, as numbers of orders or customers do, are
// places in an array. Others are hashed, with open addressing.
type intPartners struct {
	low   int64
	dense []int32 // by key-low: the first row plus 1; 0: no row has the key

	keys []int64 // by place
	rows []int32 // by place: the first row plus 1; 0: the place is free
	a, b uint64  // random, so that the author of a file cannot choose keys that collide
	counted
}

// intKeys collects the keys of rows.
type intKeys struct {
	counted
	keys      blocks[int64]
	n         int
	missing   []uint64 // bit i: row i has no partners, because its key is NULL; may end before the last row
	some      bool     // whether there is a key
	low, high int64
}

const (
	keyBytes  = 8
	slotBytes = 12 // of a place for a key that is hashed
	rowBytes  = 4
	// densest is how many integers of a range may stand in the array for each row. Up to 8, the array takes no more memory than
	// hashing does at worst.
	densest = 8
	// leastRange is up to how many integers there is an array in any case.
	leastRange = 1 << 10
)

// add appends the keys of the selected rows.
func (k *intKeys) add(values []*eval.Vector, sel []int32) error {
	v := values[0]
	k.keys.add(v.Ints, sel)
	for at, i := range sel {
		if v.IsNull(i) {
			r := k.n + at
			for len(k.missing) <= r>>6 {
				k.missing = append(k.missing, 0)
			}
			k.missing[r>>6] |= 1 << (r & 63)
			continue
		}
		key := v.Ints[i]
		if !k.some {
			k.some, k.low, k.high = true, key, key
		}
		k.low, k.high = min(k.low, key), max(k.high, key)
	}
	k.n += len(sel)
	return k.hold(keyBytes * int64(len(sel)))
}

func (k *intKeys) none(row int) bool {
	w := row >> 6
	return w < len(k.missing) && k.missing[w]>>(row&63)&1 == 1
}

// partners builds the table of a join whose right rows have these keys, and the chains of its rows.
func (k *intKeys) partners(j *join) error {
	p := &intPartners{low: k.low, counted: counted{x: k.x, soft: k.soft}}
	j.ints = p
	if !k.some {
		return nil
	}
	if span := uint64(k.high) - uint64(k.low); span < max(densest*uint64(k.n), leastRange) {
		if err := p.hold(rowBytes * int64(span+1)); err != nil {
			return err
		}
		p.dense = make([]int32, span+1)
	} else {
		places := 1 << bits.Len(uint(k.n+k.n/2)) // at most two thirds are taken
		if err := p.hold(slotBytes * int64(places)); err != nil {
			return err
		}
		seed := maphash.MakeSeed()
		p.a, p.b = maphash.Comparable(seed, 0), maphash.Comparable(seed, 1)|1
		p.keys, p.rows = make([]int64, places), make([]int32, places)
	}
	for row := k.n - 1; row >= 0; row-- { // backwards, so that the rows of a key follow one another in their order
		if row&(blockRows-1) == 0 {
			k.x.pause()
		}
		if k.none(row) {
			continue
		}
		first := p.slot(k.keys.at(int32(row)))
		if *first != 0 {
			if j.next == nil {
				if err := j.right.hold(rowBytes * int64(k.n)); err != nil {
					return err
				}
				j.next = slices.Repeat([]int32{-1}, k.n)
			}
			j.next[row], j.repeats = *first-1, true
		}
		*first = int32(row) + 1
	}
	return nil
}

// slot returns where the first row of a key is noted.
func (p *intPartners) slot(key int64) *int32 {
	if p.dense != nil {
		return &p.dense[uint64(key)-uint64(p.low)]
	}
	at := p.place(key)
	p.keys[at] = key
	return &p.rows[at]
}

// place returns the place of a key, or the free place for it.
func (p *intPartners) place(key int64) int {
	hi, lo := bits.Mul64(uint64(key)^p.a, p.b)
	mask := len(p.rows) - 1
	at := int(hi^lo) & mask
	for p.rows[at] != 0 && p.keys[at] != key {
		at = (at + 1) & mask
	}
	return at
}

// find puts the first partner of each selected row into first, -1 if it has none. Each look-up waits for memory, so that nothing
// else is done in between: the processor then begins with the next ones while it waits.
func (p *intPartners) find(keys []int64, sel, first []int32) {
	switch {
	case p.dense != nil:
		low, dense := uint64(p.low), p.dense
		for k, i := range sel {
			first[k] = -1
			if at := uint64(keys[i]) - low; at < uint64(len(dense)) {
				first[k] = dense[at] - 1
			}
		}
	case p.rows != nil:
		for k, i := range sel {
			first[k] = p.rows[p.place(keys[i])] - 1
		}
	default:
		for k := range sel {
			first[k] = -1
		}
	}
}
