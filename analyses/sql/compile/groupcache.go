package compile

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

// groupCache remembers the groups of keys that are small numbers: codes of a dictionary, BOOLEANs, and integers that are near
// each other. The table is then searched once for each different key of a batch, and not once for each row. The cache is valid
// for one batch, because the next one has other codes, and only until the table is flushed.
type groupCache struct {
	rows   []int32 // by number of the keys; 0: not known, else one more than the row
	places []place
	number []int32 // by selected row
}

// place is what a key adds to the number of a group.
type place struct {
	low  int64 // of integers: the least that has a number
	size int64 // how many numbers there are; the last is that of NULL
}

// mostCached is the largest number of keys that are cached. It keeps the cost of clearing the cache small compared with that of
// a batch's rows.
const mostCached = 1 << 14

// forget is called when codes change their meaning or rows are gone.
func (c *groupCache) forget() {
	clear(c.rows)
	c.places = c.places[:0]
}

// numbers returns the numbers of the selected rows' groups, which are below len(rows). It returns nil if the keys have too many
// values.
func (c *groupCache) numbers(keys []*eval.Vector, sel []int32) []int32 {
	if !c.place(keys, sel) {
		return nil
	}
	if cap(c.number) < len(sel) {
		c.number = make([]int32, len(sel))
	}
	number := c.number[:len(sel)]
	clear(number)
	for k, v := range keys {
		p := c.places[k]
		size, null := int32(p.size), int32(p.size-1)
		for at, i := range sel {
			code := null
			switch {
			case v.IsNull(i):
			case v.Codes != nil:
				code = int32(v.Codes[i])
			case v.Kind == types.Bool:
				code = 0
				if v.Bools[i] {
					code = 1
				}
			default:
				code = int32(v.Ints[i] - p.low)
			}
			number[at] = number[at]*size + code
		}
	}
	return number
}

// place determines which numbers the keys need. If the present ranges do not suffice, it clears the cache.
func (c *groupCache) place(keys []*eval.Vector, sel []int32) bool {
	fits, total := len(c.places) == len(keys), int64(1)
	next := make([]place, len(keys))
	for k, v := range keys {
		p := place{}
		switch {
		case v.Codes != nil:
			p.size = int64(v.Entries) + 1
		case v.Kind == types.Bool:
			p.size = 3
		case v.Kind == types.BigInt || v.Kind == types.Decimal || v.Kind == types.Date || v.Kind == types.Timestamp:
			low, high, some := bounds(v, sel)
			if some && uint64(high)-uint64(low) >= mostCached {
				return false
			}
			p.low, p.size = low, high-low+2
			if len(c.places) == len(keys) {
				if had := c.places[k]; !some || low >= had.low && high <= had.low+had.size-2 {
					p = had
				}
			}
		default:
			return false
		}
		if total *= p.size; total > mostCached {
			return false
		}
		next[k] = p
		fits = fits && c.places[k] == p
	}
	if !fits {
		c.forget()
		c.places = append(c.places, next...)
		if int64(cap(c.rows)) < total {
			c.rows = make([]int32, total)
		}
		c.rows = c.rows[:total]
		clear(c.rows)
	}
	return true
}

// bounds returns the least and the greatest integer of the selected rows that are not NULL.
func bounds(v *eval.Vector, sel []int32) (low, high int64, some bool) {
	for _, i := range sel {
		switch {
		case v.IsNull(i):
		case !some:
			low, high, some = v.Ints[i], v.Ints[i], true
		default:
			low, high = min(low, v.Ints[i]), max(high, v.Ints[i])
		}
	}
	return low, high, some
}
