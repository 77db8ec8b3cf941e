package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Types of pages.
const (
	pageData       = 0
	pageDictionary = 2
	pageData2      = 3
)

// shared is what the columns of a file share.
type shared struct {
	file     *file
	memory   *budget
	unpacker unpacker
	head     []byte // heads of pages
	indexed  []byte // an index of pages
	packed   []byte // a page before it is unpacked
	blocks   blocks
}

// column reads one column of the file, row group by row group, page by page and block by block.
type column struct {
	*shared
	*place
	texts
	meta  chunkMeta
	where string

	pos  int64 // of the next page
	rest int64 // values of the row group in pages to come
	left int64 // values of the page

	pages    []pagePlace // where all pages of the row group are, if looked is set; empty if that is not known
	looked   bool
	expected int // the number of the page to which jump went, counted from 1; 0 if it was begun

	pageAt   int64
	pageHead pageHead
	unread   bool  // the page was not unpacked yet
	owed     int64 // values of the page that were skipped, and not passed over yet

	page       []byte
	last       []byte // memory for texts that are not as they are in the page
	values     values // nil before the first page of the row group
	dictionary dictionaryOf
	rep, def   hybrid

	counts []int // by repetition level less 1: number of the present item
	ahead  bool  // the repetition level of the next row's first value was read already, into level
	level  uint32
}

// newColumn returns a column before its first row group.
func newColumn(s *shared, p *place) (*column, error) {
	t, err := textsOf(p.element)
	return &column{shared: s, place: p, texts: t, counts: make([]int, p.maxRep)}, err
}

// begin goes to a row group.
func (c *column) begin(number int, rows int64, meta chunkMeta) error {
	c.where = fmt.Sprintf("column %q of row group %d", c.name, number)
	switch {
	case meta.encrypted || !meta.described:
		return fmt.Errorf("%w: %s is encrypted; write it without encryption", ErrUnread, c.where)
	case meta.elsewhere:
		return fmt.Errorf("%w: %s is in another file; write it into one", ErrUnread, c.where)
	case meta.kind != c.kind:
		return damaged(c.where, "its values have another type than the column")
	case meta.from < int64(len(Magic)) || meta.packed < 0 || meta.from > c.file.end || meta.packed > c.file.end-meta.from:
		return damaged(c.where, "it should be at byte %d and have %d bytes, and the pages of the file end at %d", meta.from, meta.packed,
			c.file.end)
	case meta.values < 0 || c.maxRep == 0 && meta.values != rows || meta.values < rows:
		return damaged(c.where, "it has %d values for %d rows", meta.values, rows)
	}
	if err := c.unpacker.read(meta.codec); err != nil {
		return err
	}
	c.meta, c.pos, c.rest, c.left, c.ahead = meta, meta.from, meta.values, 0, false
	c.values, c.unread, c.owed = nil, false, 0
	c.looked, c.expected = false, 0
	c.dictionary.forget()
	return nil
}

// finish checks that all values of the row group were read.
func (c *column) finish() error {
	if c.rest+c.left > 0 || c.ahead {
		return damaged(c.where, "it has more values than the row group has rows")
	}
	return nil
}

var errLevels = errors.New("its levels are damaged")

func (c *column) wrong(err error) error {
	if err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnread) {
		return err
	}
	return damaged(c.where, "%w", err)
}

// repetition returns the level of the next value; some is false at the end of the row group.
func (c *column) repetition() (r uint32, some bool, err error) {
	if c.ahead {
		c.ahead = false
		return c.level, true, nil
	}
	if c.left+c.rest == 0 {
		return 0, false, nil
	}
	if err := c.ready(); err != nil {
		return 0, false, err
	}
	r, err = c.rep.next()
	if err != nil || r > uint32(c.maxRep) {
		return 0, false, c.wrong(errLevels)
	}
	return r, true, nil
}

// pageHead is the header of a page.
type pageHead struct {
	kind             int64
	size, packed     int64
	crc              uint32
	checked          bool // the page has a crc
	values           int64
	encoding         int64
	defs, reps       int64 // encodings of levels, or their bytes
	plain            bool  // the page is not packed
	data, dict, dat2 bool  // which of the three specific headers is present
}

const (
	leastHead = 512
	maxHead   = 1 << 20
)

// readHead reads the page header at pos, and moves pos after it. Statistics in it may have texts of many MiB, which are skipped.
func (c *column) readHead() (pageHead, error) {
	start := c.pos
	for size := int64(leastHead); ; size *= 8 {
		t := &thrift{}
		var whole bool
		at := func(pos int64) {
			var err error
			room := min(size, maxHead, c.meta.to-pos)
			whole = room == size
			if c.head, err = c.memory.grow(c.head, int(room)); err == nil {
				err = c.file.readAt(c.head, pos, c.where)
			}
			if err != nil {
				t.fail(err)
				return
			}
			c.pos, t.p, t.i = pos, c.head, 0
		}
		t.jump = func(n uint64) {
			if next := c.pos + int64(len(t.p)); n <= uint64(c.meta.to-next) {
				at(next + int64(n))
			} else {
				whole = false
				t.fail(errShort)
			}
		}
		at(start)
		h := t.pageHead()
		switch {
		case t.err == nil:
			c.pos += int64(t.i)
			return h, nil
		case t.err == errShort && whole:
			continue
		case t.err == errShort || t.err == errThrift:
			return h, damaged(c.where, "the head of a page at byte %d: %w", start, t.err)
		}
		return pageHead{}, t.err
	}
}

func (t *thrift) pageHead() (h pageHead) {
	h.kind = -1
	t.structure(0, func(id int, kind byte) bool {
		switch id {
		case 1:
			h.kind = t.number(kind)
		case 2:
			h.size = t.number(kind)
		case 3:
			h.packed = t.number(kind)
		case 4:
			h.crc, h.checked = uint32(t.number(kind)), true
		case 5:
			h.data = true
			t.numbers(kind, map[int]*int64{1: &h.values, 2: &h.encoding, 3: &h.defs, 4: &h.reps}, nil)
		case 7:
			h.dict = true
			t.numbers(kind, map[int]*int64{1: &h.values, 2: &h.encoding}, nil)
		case 8:
			h.dat2 = true
			t.numbers(kind, map[int]*int64{1: &h.values, 4: &h.encoding, 5: &h.defs, 6: &h.reps}, func(id int, kind byte) {
				h.plain = h.plain || id == 7 && kind == thriftFalse
			})
		default:
			return false
		}
		return true
	})
	return h
}

// numbers reads the wanted fields of a structure, and calls other for the rest.
func (t *thrift) numbers(kind byte, wanted map[int]*int64, other func(id int, kind byte)) {
	if !t.wants(kind, thriftStruct) {
		return
	}
	t.structure(1, func(id int, kind byte) bool {
		if to := wanted[id]; to != nil {
			*to = t.number(kind)
			return true
		}
		if other != nil {
			other(id, kind)
		}
		return false
	})
}

// nextPage goes to the next page with values, and does not read it yet.
func (c *column) nextPage() error {
	for {
		if c.pos >= c.meta.to {
			return damaged(c.where, "its pages end %d values too early", c.rest)
		}
		h, err := c.readHead()
		if err != nil {
			return err
		}
		if h.size < 0 || h.packed < 0 || h.packed > c.meta.to-c.pos {
			return damaged(c.where, "a page at byte %d says that it has %d bytes, unpacked %d; the column ends at byte %d", c.pos, h.packed, h.size,
				c.meta.to)
		}
		at := c.pos
		c.pos += h.packed
		switch {
		case h.kind == pageData && h.data, h.kind == pageData2 && h.dat2:
			if h.values < 0 || h.values > c.rest {
				return damaged(c.where, "a page at byte %d says that it has %d values, and %d are left", at, h.values, c.rest)
			}
			if err := c.checkPlace(&h); err != nil {
				return err
			}
			if h.values == 0 {
				continue
			}
			c.pageAt, c.pageHead, c.unread, c.owed = at, h, true, 0
			c.rest -= h.values
			c.left = h.values
			return nil
		case h.kind == pageDictionary && h.dict:
			if d := &c.dictionary; d.there || c.rest < c.meta.values {
				return damaged(c.where, "its dictionary at byte %d is not its first page", at)
			}
			if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
				return damaged(c.where, "its dictionary has encoding %d", h.encoding)
			}
			c.dictionary.there, c.dictionary.at, c.dictionary.head = true, at, h
		case h.kind == pageData || h.kind == pageData2 || h.kind == pageDictionary:
			return damaged(c.where, "the head of a page before byte %d is not that of its type", at)
		}
	}
}

func (c *column) atPage(at int64, err error) error {
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnread) {
		return fmt.Errorf("%w (%s)", err, c.where)
	}
	return damaged(c.where, "a page at byte %d: %w", at, err)
}

// read reads a page, and unpacks all but its first bytes, which are never packed.
func (c *column) read(at int64, h *pageHead, first int64) ([]byte, error) {
	if first > h.packed || first > h.size {
		return nil, errors.New("its levels are longer than the page")
	}
	codec := c.meta.codec
	if h.plain {
		codec = codecNone
	}
	if codec == codecNone && h.packed != h.size {
		return nil, errSize
	}
	if h.size > maxPage {
		return nil, fmt.Errorf("%w: it has a page of more than %d MiB; write it with smaller pages", ErrUnread, maxPage>>20)
	}
	var err error
	if c.page, err = c.memory.grow(c.page, int(h.size)); err != nil {
		return nil, err
	}
	packed := c.page
	if codec != codecNone {
		if c.packed, err = c.memory.grow(c.packed, int(h.packed)); err != nil {
			return nil, err
		}
		packed = c.packed
	}
	if err := c.file.readAt(packed, at, c.where); err != nil {
		return nil, err
	}
	if h.checked && crc32.ChecksumIEEE(packed) != h.crc {
		return nil, errors.New("its checksum is wrong")
	}
	if codec == codecNone {
		return c.page, nil
	}
	copy(c.page, packed[:first])
	if h.size == first {
		return c.page, nil
	}
	return c.page, c.unpacker.unpack(codec, c.page[first:], packed[first:])
}

// load reads a data page.
func (c *column) load(at int64, h *pageHead) error {
	first := int64(0)
	if h.dat2 {
		if h.reps < 0 || h.defs < 0 || h.reps > h.packed || h.defs > h.packed {
			return errLevels
		}
		first = h.reps + h.defs
	}
	p, err := c.read(at, h, first)
	if err != nil {
		return err
	}
	if h.dat2 {
		c.rep, c.def = newHybrid(p[:h.reps], c.maxRep), newHybrid(p[h.reps:first], c.maxDef)
		p = p[first:]
	} else {
		if c.rep, p, err = olderLevels(p, c.maxRep, h.reps); err != nil {
			return err
		}
		if c.def, p, err = olderLevels(p, c.maxDef, h.defs); err != nil {
			return err
		}
	}
	c.values, err = c.open(h.encoding, p)
	return err
}

// olderLevels reads the levels at the beginning of a data page of version 1, where their size comes before them.
func olderLevels(p []byte, most int, encoding int64) (hybrid, []byte, error) {
	if most == 0 {
		return hybrid{}, p, nil
	}
	if encoding != encodingRLE {
		return hybrid{}, nil, fmt.Errorf("%w: its levels are encoded in a way that is not read here (encoding %d)", ErrUnread, encoding)
	}
	if len(p) < 4 {
		return hybrid{}, nil, errLevels
	}
	n := binary.LittleEndian.Uint32(p)
	if uint64(n) > uint64(len(p)-4) {
		return hybrid{}, nil, errLevels
	}
	return newHybrid(p[4:4+n], most), p[4+n:], nil
}
