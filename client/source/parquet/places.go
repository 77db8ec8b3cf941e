package parquet

import "sort"

// This file reads the page index, which pageindex.go writes: where the pages of a column are, and which values they have.
//
// An index is an aid, so one that cannot be right is ignored: its bytes are not within the file, it is no such structure, or its numbers
// contradict each other or the footer. When a page is found by its place, its header is compared with the index, and an index that
// contradicts it is an error, because the file is damaged then. Bounds are trusted like the statistics of row groups.

// pagePlace is where a page is, with its header.
type pagePlace struct {
	at, size int64
	row      int64 // the number of its first row in the row group
}

// sizeOfPlace is what a pagePlace takes in memory.
const sizeOfPlace = 24

// maxIndex is the longest index of pages that is read: bytes.
const maxIndex = 4 << 20

// index reads an index. It is nil if it cannot be where the footer says. It is valid until the next call for any column.
func (s *shared) index(e extent, where string) ([]byte, error) {
	if e.at < int64(len(Magic)) || e.size <= 0 || e.size > maxIndex || e.at > s.file.end || e.size > s.file.end-e.at {
		return nil, nil
	}
	var err error
	if s.indexed, err = s.memory.grow(s.indexed, int(e.size)); err != nil {
		return nil, err
	}
	return s.indexed, s.file.readAt(s.indexed, e.at, where)
}

// readPlaces reads where the pages of the row group are; nil if that is not known.
func (c *column) readPlaces() ([]pagePlace, error) {
	if c.looked {
		return c.pages, nil
	}
	c.looked, c.pages = true, c.pages[:0]
	p, err := c.index(c.meta.places, c.where)
	if p == nil || err != nil || c.maxRep > 0 { // a page of lists has more values than rows
		return nil, err
	}
	t := &thrift{p: p}
	t.structure(0, func(id int, kind byte) bool {
		if id != 1 {
			return false
		}
		t.list(kind, func(of byte) bool {
			if !t.wants(of, thriftStruct) {
				return false
			}
			one := pagePlace{row: -1}
			t.numbers(of, map[int]*int64{1: &one.at, 2: &one.size, 3: &one.row}, nil)
			if len(c.pages) == cap(c.pages) {
				if err = c.memory.charge(sizeOfPlace * max(16, cap(c.pages))); err != nil {
					return false
				}
				c.pages = append(make([]pagePlace, 0, max(16, 2*cap(c.pages))), c.pages...)
			}
			c.pages = append(c.pages, one)
			return true
		})
		return true
	})
	if err != nil {
		return nil, err
	}
	if t.err != nil || !c.plausible(c.pages) {
		c.pages = c.pages[:0]
	}
	return c.pages, nil
}

// plausible reports whether pages are in order, one behind the other, from the first to the end of the column.
func (c *column) plausible(pages []pagePlace) bool {
	next := pagePlace{at: c.meta.data}
	for i, p := range pages {
		if p.at != next.at || p.size <= 0 || p.size > c.meta.to-p.at || p.row < next.row || p.row >= c.meta.values || i == 0 && p.row != 0 {
			return false
		}
		next = pagePlace{at: p.at + p.size, row: p.row + 1}
	}
	return next.at == c.meta.to
}

// rowsOf returns the number of rows of a page.
func (c *column) rowsOf(page int) int64 {
	if page+1 < len(c.pages) {
		return c.pages[page+1].row - c.pages[page].row
	}
	return c.meta.values - c.pages[page].row
}

// jump goes to the page with a row of the row group, if an index says where it is and there are pages before it. It returns how many rows
// these have.
func (c *column) jump(row int64) (passed int64, err error) {
	pages, err := c.readPlaces()
	if err != nil || len(pages) == 0 {
		return 0, err
	}
	k := sort.Search(len(pages), func(i int) bool { return pages[i].row > row }) - 1
	if passed = pages[k].row - (c.meta.values - c.rest); passed <= 0 {
		return 0, nil
	}
	c.pos, c.rest, c.expected = pages[k].at, c.rest-passed, k+1
	return passed, nil
}

// checkPlace compares the header of a page to which jump went with the index.
func (c *column) checkPlace(h *pageHead) error {
	k := c.expected - 1
	if c.expected = 0; k < 0 {
		return nil
	}
	if p := &c.pages[k]; h.values != c.rowsOf(k) || c.pos != p.at+p.size {
		return damaged(c.where, "its index says that the page at byte %d has %d rows and %d bytes, and it has %d and %d", p.at, c.rowsOf(k),
			p.size, h.values, c.pos-p.at)
	}
	return nil
}

// span is some rows of a row group.
type span struct{ from, to int64 }

// pageBounds reads the index of bounds, and calls each for the pages with the statistics of each. It does nothing if the index contradicts
// itself or the index of places.
func (c *column) pageBounds(each func(rows span, s *statistics)) error {
	pages, err := c.readPlaces()
	if err != nil || len(pages) == 0 {
		return err
	}
	p, err := c.index(c.meta.bounds, c.where)
	if p == nil || err != nil {
		return err
	}
	var empty []bool
	var least, most [][]byte
	var nulls []int64
	t := &thrift{p: p}
	n := len(pages)
	texts := func(kind byte, to *[][]byte) {
		t.list(kind, func(of byte) bool {
			if t.wants(of, thriftBinary) {
				*to = append(*to, t.binary())
			}
			return len(*to) <= n
		})
	}
	t.structure(0, func(id int, kind byte) bool {
		switch id {
		case 1:
			t.list(kind, func(byte) bool { empty = append(empty, t.byte() == thriftTrue); return len(empty) <= n })
		case 2:
			texts(kind, &least)
		case 3:
			texts(kind, &most)
		case 5:
			t.list(kind, func(of byte) bool { nulls = append(nulls, t.number(of)); return len(nulls) <= n })
		default:
			return false
		}
		return true
	})
	if t.err != nil || len(empty) != n || len(least) != n || len(most) != n || len(nulls) != n && nulls != nil {
		return nil
	}
	for k := range pages { // first all, because what contradicts itself is ignored whole
		if nulls != nil && (nulls[k] < 0 || nulls[k] > c.rowsOf(k) || empty[k] != (nulls[k] == c.rowsOf(k))) || empty[k] && c.maxDef == 0 {
			return nil
		}
	}
	for k, page := range pages {
		s := statistics{least: least[k], most: most[k]}
		switch {
		case empty[k]:
			s = statistics{nulls: c.rowsOf(k), counted: true}
		case nulls != nil:
			s.nulls, s.counted = nulls[k], true
		}
		each(span{page.row, page.row + c.rowsOf(k)}, &s)
	}
	return nil
}
