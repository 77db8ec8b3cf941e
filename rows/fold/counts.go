package fold

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// counts is a cell of kind Counts: how often each number was added. Numbers are appended as they come. When the list has
// doubled, it is sorted and equal numbers are combined. So no number is searched for, and memory is accessed in order.
// Rejected: a table with the number as a key, and a hash table in each cell. Both wait for memory for each number.
type counts struct {
	list  []count
	mixed bool // list is not sorted, or has a number twice
	limit int  // length at which a mixed list is sorted
}

type count struct{ value, n int64 }

// fewCounts is the length up to which a list stays unsorted. A joiner mostly collects fewer numbers between two flushes.
const fewCounts = 1024

var errOften = fmt.Errorf("%w: a number was added more than %d times", ErrOverflow, math.MaxInt64)

func (c *counts) add(value, n int64, free *[]count) error {
	if last := len(c.list) - 1; last >= 0 && value <= c.list[last].value {
		c.mixed = true
	}
	c.list = append(c.list, count{value, n})
	if !c.mixed || len(c.list) < max(c.limit, fewCounts) {
		return nil
	}
	err := c.normalize(free)
	c.limit = 2 * len(c.list)
	return err
}

// normalize sorts the list, with each number once. If the count of a number would overflow, the number stays in the list
// twice. That is an error each time the list is normalized, also at the receiver. free is memory for sorting.
func (c *counts) normalize(free *[]count) error {
	if !c.mixed {
		return nil
	}
	sortCounts(c.list, free)
	c.mixed = false
	kept := 0
	for _, x := range c.list[1:] {
		last := &c.list[kept]
		if x.value == last.value && last.n <= math.MaxInt64-x.n {
			last.n += x.n
			continue
		}
		c.mixed = c.mixed || x.value == last.value
		kept++
		c.list[kept] = x
	}
	c.list = c.list[:kept+1]
	if c.mixed {
		return errOften
	}
	return nil
}

// sortCounts sorts by value. Numbers of a cell are mostly within a range of a few thousands or millions, which radix sort handles in two or
// three passes without a comparison.
func sortCounts(list []count, free *[]count) {
	low, high := list[0].value, list[0].value
	for _, x := range list {
		low, high = min(low, x.value), max(high, x.value)
	}
	span := bits.Len64(uint64(high) - uint64(low))
	if len(list) < 256 || span > 32 {
		slices.SortFunc(list, func(a, b count) int { return cmp.Compare(a.value, b.value) })
		return
	}
	from, to := list, slices.Grow((*free)[:0], len(list))[:len(list)]
	*free = to
	for shift := 0; shift < span; shift += 8 {
		var next [256]int
		for i := range from {
			next[byte((from[i].value-low)>>shift)]++
		}
		at := 0
		for digit, n := range next {
			next[digit] = at
			at += n
		}
		for i := range from {
			place := &next[byte((from[i].value-low)>>shift)]
			to[*place] = from[i]
			*place++
		}
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
}

func (c *counts) reset() { *c = counts{list: c.list[:0]} }

func (c *counts) memory() int { return 16 * cap(c.list) }

// append appends the wire form: for each number, as a varint, the difference to the one before it (to 0 for the first). A
// number that was added more than once is followed by 0 and, as a uvarint, by how many more times. A long list is sorted first,
// which makes the differences small and saves the receiver work. A short one is sent as it is.
func (c *counts) append(b []byte, free *[]count) []byte {
	if len(c.list) >= fewCounts {
		_ = c.normalize(free) // the receiver will find the error, so it is not lost
	}
	before := int64(0)
	for i, x := range c.list {
		n := x.n
		if i == 0 || x.value != before {
			b = binary.AppendVarint(b, x.value-before) // modulo 2^64, as the receiver adds
			n--
		}
		if n > 0 {
			b = binary.AppendUvarint(append(b, 0), uint64(n))
		}
		before = x.value
	}
	return b
}

// read adds what append wrote.
func (c *counts) read(p []byte, free *[]count) error {
	return readCounts(p, func(value, n int64) error { return c.add(value, n, free) })
}

// AddCount adds v to a Counts, n times; n must be above 0. If the count of a number exceeds an int64, AddCount sets
// [Table.Err].
func (t *Table) AddCount(row, agg int, v, n int64) {
	if n <= 0 {
		panic(fmt.Sprintf("fold: a number is added %d times to %s of %s", n, t.spec.Aggs[agg].Name, t.spec.Name))
	}
	c := t.of(agg, Counts)
	if err := c.counts[row].add(v, n, &c.free); err != nil {
		t.fail(fmt.Errorf("%s of table %s: %w", t.spec.Aggs[agg].Name, t.spec.Name, err))
	}
}

// Counts returns the numbers of a Counts, sorted, each once with how often it was added. It is valid until the table changes.
func (t *Table) Counts(row, agg int) iter.Seq2[int64, int64] {
	c := t.of(agg, Counts)
	if err := c.counts[row].normalize(&c.free); err != nil {
		t.fail(fmt.Errorf("%s of table %s: %w", t.spec.Aggs[agg].Name, t.spec.Name, err))
	}
	return func(yield func(v, n int64) bool) {
		for _, x := range c.counts[row].list {
			if !yield(x.value, x.n) {
				return
			}
		}
	}
}
