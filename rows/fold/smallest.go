package fold

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// smallest is a cell of kind Smallest: the Agg.N smallest of the different numbers that were added. Numbers are appended as they
// come, and sorted when the list has become several times as long as needed.
type smallest struct {
	list  []int64
	kept  int // how many numbers at the start of the list are sorted and distinct
	bound int64
	full  bool // the list once had Agg.N different numbers, the greatest of them bound. Greater ones are not needed
}

// sortSmallest is how many times as long as Agg.N a list may become before it is sorted.
const sortSmallest = 3

func (s *smallest) add(v int64, most int) {
	if s.full && v >= s.bound {
		return
	}
	s.list = append(s.list, v)
	if len(s.list) >= sortSmallest*most {
		s.settle(most)
	}
}

// settle sorts the list and removes what is not needed.
func (s *smallest) settle(most int) {
	if s.kept == len(s.list) {
		return
	}
	slices.Sort(s.list)
	s.list = slices.Compact(s.list)
	if len(s.list) >= most {
		s.list = s.list[:most]
		s.full, s.bound = true, s.list[most-1]
	}
	s.kept = len(s.list)
}

func (s *smallest) reset() { *s = smallest{list: s.list[:0]} }

func (s *smallest) memory() int { return 8 * cap(s.list) }

// append appends the wire form: the first number as a varint, then the distance of each from the one before as a uvarint.
func (s *smallest) append(b []byte, most int) []byte {
	s.settle(most)
	for i, v := range s.list {
		if i == 0 {
			b = binary.AppendVarint(b, v)
			continue
		}
		b = binary.AppendUvarint(b, uint64(v)-uint64(s.list[i-1]))
	}
	return b
}

// read adds what append wrote.
func (s *smallest) read(p []byte, most int) error {
	v, size := int64(0), 0
	for n := 0; len(p) > 0; n++ {
		if n == most {
			return fmt.Errorf("more than %d numbers", most)
		}
		if n == 0 {
			v, size = binary.Varint(p)
		} else {
			var distance uint64
			distance, size = binary.Uvarint(p)
			if after := int64(uint64(v) + distance); after > v {
				v = after
			} else {
				size = 0
			}
		}
		if size <= 0 {
			return fmt.Errorf("a number in %d bytes is cut, too large or not above the one before", len(p))
		}
		p = p[size:]
		s.add(v, most)
	}
	return nil
}

// AddSmallest adds v to a Smallest.
func (t *Table) AddSmallest(row, agg int, v int64) {
	c := t.of(agg, Smallest)
	c.smallest[row].add(v, c.agg.N)
}

// Smallest returns the numbers of a Smallest, sorted, valid until the table changes.
func (t *Table) Smallest(row, agg int) []int64 {
	c := t.of(agg, Smallest)
	c.smallest[row].settle(c.agg.N)
	return c.smallest[row].list
}
