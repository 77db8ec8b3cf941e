package eval

import "posta.dev/posta/analyses/sql/types"

// KeyCache remembers a number for keys that are small numbers: codes of a dictionary, BOOLEANs, and integers that are close to
// each other. A table is then searched once per distinct key of a batch, instead of once per row. The cache is valid for one
// batch, because the next one has other codes.
type KeyCache struct {
	Known  []int32 // by the number of a key; 0: nothing is known
	places []place
	number []int32 // by selected row
}

// place says what the value of one key column contributes to the number of a row's keys.
type place struct {
	low  int64 // the least integer that has a number
	size int64 // how many numbers there are; the last one stands for NULL
}

// MostKeys bounds how many keys are cached, so that clearing the cache costs little compared with computing a batch's rows.
const MostKeys = 1 << 14

// Forget clears the cache. It is called when codes change their meaning, or when what is known no longer holds.
func (c *KeyCache) Forget() {
	clear(c.Known)
	c.places = c.places[:0]
}

// Numbers returns the numbers of the selected rows' keys, which are below len(Known). It returns nil if there may be more than
// most distinct keys.
func (c *KeyCache) Numbers(keys []*Vector, sel []int32, most int64) []int32 {
	if !c.place(keys, sel, most) {
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
		if k == 0 && !v.Any && v.Codes != nil {
			for at, i := range sel {
				number[at] = int32(v.Codes[i])
			}
			continue
		}
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

// place determines which numbers the keys need. If the present ranges are too small, it clears the cache.
func (c *KeyCache) place(keys []*Vector, sel []int32, most int64) bool {
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
			if some && uint64(high)-uint64(low) >= uint64(most) {
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
		if total *= p.size; total > most {
			return false
		}
		next[k] = p
		fits = fits && c.places[k] == p
	}
	if !fits {
		c.Forget()
		c.places = append(c.places, next...)
		if int64(cap(c.Known)) < total {
			c.Known = make([]int32, total)
		}
		c.Known = c.Known[:total]
		clear(c.Known)
	}
	return true
}

// bounds returns the least and the greatest integer of the selected rows that are not NULL. some is false if all of them are
// NULL.
func bounds(v *Vector, sel []int32) (low, high int64, some bool) {
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
