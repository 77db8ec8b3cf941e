package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

var (
	// ErrDamaged is wrapped by the errors for a file that is cut short or damaged.
	ErrDamaged = errors.New("damaged Parquet file")

	// ErrUnread is wrapped by errors for valid features that this package does not read.
	ErrUnread = errors.New("a Parquet file that is not read")

	// ErrColumn is wrapped by the errors of [NewCutter] for a column that the file lacks, or that has no single value in each row.
	ErrColumn = errors.New("its columns do not fit")
)

// ErrEncrypted is the error for a file that is encrypted. It wraps [ErrUnread].
var ErrEncrypted = fmt.Errorf("%w: it is encrypted; write it without encryption", ErrUnread)

const (
	// Magic is how a file begins and ends.
	Magic = "PAR1"

	// Encrypted is how a file begins and ends whose footer is encrypted, too.
	Encrypted = "PARE"
)

const (
	// maxFooter is the longest footer that is read: bytes.
	maxFooter = 16 << 20

	// maxElements is how many columns and groups a file may have. It is far more than package csv accepts.
	maxElements = 1 << 16
)

// damaged returns an error about a place in the file.
func damaged(where, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w; write or download it again", ErrDamaged, where, fmt.Errorf(format, args...))
}

// file is the content of a file's footer.
type file struct {
	in     io.ReaderAt
	size   int64
	end    int64 // where pages end and the footer begins
	rows   int64
	schema []element
	orders []bool // by leaf: statistics are in the order of the type
	groups []byte // the list of row groups as it is written
}

// open reads the footer of a file, and charges memory with it.
func open(in io.ReaderAt, size int64, memory *budget) (*file, error) {
	f := &file{in: in, size: size}
	var tail [8]byte
	if size < int64(len(Magic)+len(tail)) {
		return nil, damaged("the end", "it has %d bytes", size)
	}
	if err := f.readAt(tail[:], size-int64(len(tail)), "the end"); err != nil {
		return nil, err
	}
	switch magic := string(tail[4:]); magic {
	case Magic:
	case Encrypted:
		return nil, ErrEncrypted
	default:
		return nil, damaged("the end", "the file begins as Parquet does and does not end so; it is cut short")
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	f.end = size - int64(len(tail)) - length
	if f.end < int64(len(Magic)) {
		return nil, damaged("the end", "it says that the footer has %d bytes, and the file has %d", length, size)
	}
	if length > maxFooter {
		return nil, fmt.Errorf(
			"%w: its footer has %d bytes, at most %d are read; write it with fewer columns, larger row groups or shorter statistics", ErrUnread,
			length, maxFooter)
	}
	footer, err := memory.grow(nil, int(length))
	if err != nil {
		return nil, err
	}
	if err := f.readAt(footer, f.end, "the footer"); err != nil {
		return nil, err
	}
	if err := f.parse(footer); err != nil {
		return nil, err
	}
	return f, f.check()
}

// readAt fills p.
func (f *file) readAt(p []byte, at int64, what string) error {
	n, err := f.in.ReadAt(p, at)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return damaged(what, "the file became shorter while it was read")
	}
	return fmt.Errorf("read %s at byte %d: %w", what, at, err)
}

func (f *file) parse(footer []byte) error {
	t := &thrift{p: footer}
	encrypted, schema, groups := false, false, false
	many := false
	t.structure(0, func(id int, kind byte) bool {
		switch id {
		case 2:
			schema = true
			t.list(kind, func(of byte) bool {
				if many = len(f.schema) == maxElements; many || !t.wants(of, thriftStruct) {
					return false
				}
				f.schema = append(f.schema, t.element())
				return true
			})
		case 3:
			f.rows = t.number(kind)
		case 4:
			groups = true
			from := t.i
			t.skip(kind, 1, false)
			f.groups = footer[from:t.i]
		case 7:
			if kind != thriftList {
				return false
			}
			t.list(kind, func(of byte) bool {
				if ordered := t.ordered(of); len(f.orders) < maxElements {
					f.orders = append(f.orders, ordered)
				}
				return true
			})
		case 8:
			encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	switch {
	case many:
		return fmt.Errorf("%w: it has more than %d columns", ErrUnread, maxElements)
	case t.err != nil:
		return damaged("the footer", "%w", t.err)
	case encrypted:
		return ErrEncrypted
	case !schema || !groups || f.rows < 0:
		return damaged("the footer", "it lacks the names of columns, the row groups or the number of rows")
	}
	return nil
}

// element is one line of the schema.
type element struct {
	name       string
	kind       int64 // the physical type; -1 for a group
	length     int64 // of values with a fixed number of bytes
	repetition int64
	children   int64
	converted  int64 // -1 if none
	scale      int64
	precision  int64 // of a DECIMAL; 0 if it is not said
	logical    int   // the field that is set in the union; 0 if none
	unit       int   // of times: 1 milliseconds, 2 microseconds, 3 nanoseconds
	unsigned   bool
	bits       int64 // of integers; 0 if it is not said
}

func (t *thrift) element() (e element) {
	e.kind, e.converted = -1, -1
	t.structure(2, func(id int, kind byte) bool {
		switch id {
		case 1:
			e.kind = t.number(kind)
		case 2:
			e.length = t.number(kind)
		case 3:
			e.repetition = t.number(kind)
		case 4:
			if t.wants(kind, thriftBinary) {
				e.name = string(t.binary())
			}
		case 5:
			e.children = t.number(kind)
		case 6:
			e.converted = t.number(kind)
		case 7:
			e.scale = t.number(kind)
		case 8:
			e.precision = t.number(kind)
		case 10:
			if t.wants(kind, thriftStruct) {
				t.logical(&e)
			}
		default:
			return false
		}
		return true
	})
	return e
}

// logical reads the union with the logical type.
func (t *thrift) logical(e *element) {
	t.structure(3, func(id int, kind byte) bool {
		if kind != thriftStruct {
			return false
		}
		e.logical = id
		t.structure(4, func(field int, kind byte) bool {
			switch {
			case id == logicalDecimal && field == 1:
				e.scale = t.number(kind)
			case id == logicalDecimal && field == 2:
				e.precision = t.number(kind)
			case (id == logicalTime || id == logicalTimestamp) && field == 2 && kind == thriftStruct:
				t.structure(5, func(unit int, _ byte) bool {
					e.unit = unit
					return false
				})
			case id == logicalInteger && field == 1:
				e.bits = t.number(kind)
			case id == logicalInteger && field == 2 && (kind == thriftTrue || kind == thriftFalse):
				e.unsigned = kind == thriftFalse
			default:
				return false
			}
			return true
		})
		return true
	})
}

// chunkMeta says where the pages of one column of a row group are.
type chunkMeta struct {
	kind       int64
	codec      int64
	values     int64
	from, to   int64 // bytes of the file
	elsewhere  bool  // in another file
	encrypted  bool
	described  bool
	dictionary int64
	data       int64
	packed     int64
	unpacked   int64  // only good for estimates
	bounds     extent // of the index that has the bounds of pages
	places     extent // of the index that says where pages are
	bloom      extent // of the Bloom filter; its size may not be known
}

// extent is a part of a file. It is empty if the file has no such part.
type extent struct{ at, size int64 }

// group is one row group.
type group struct {
	rows    int64
	columns []chunkMeta // of the leaves that are wanted
	stats   []statistics
}

// eachGroup calls each for each row group. wanted are indexes of leaves, in any order; leaves is how many there are. The group is valid
// during the call.
func (f *file) eachGroup(wanted []int, leaves int, each func(number int, g *group) error) error {
	t := &thrift{p: f.groups}
	g := &group{columns: make([]chunkMeta, len(wanted)), stats: make([]statistics, len(wanted))}
	number := 0
	var err error
	t.list(thriftList, func(of byte) bool {
		if !t.wants(of, thriftStruct) {
			return false
		}
		number++
		g.rows = -1
		clear(g.columns)
		clear(g.stats)
		at := 0
		t.structure(1, func(id int, kind byte) bool {
			switch id {
			case 1:
				at = t.columns(kind, g, wanted)
			case 3:
				g.rows = t.number(kind)
			default:
				return false
			}
			return true
		})
		if t.err != nil {
			return false
		}
		if at != leaves || g.rows < 0 {
			err = damaged(fmt.Sprintf("row group %d", number), "it has %d columns and %d rows; the file has %d columns", at, g.rows, leaves)
			return false
		}
		err = each(number, g)
		return err == nil
	})
	if err == nil && t.err != nil {
		err = damaged(fmt.Sprintf("row group %d", number), "%w", t.err)
	}
	return err
}

// columns reads the columns of a row group, and returns how many there are.
func (t *thrift) columns(kind byte, g *group, wanted []int) (at int) {
	t.list(kind, func(of byte) bool {
		if !t.wants(of, thriftStruct) {
			return false
		}
		to := slices.Index(wanted, at)
		at++
		if to < 0 {
			t.skip(thriftStruct, 2, true)
			return true
		}
		t.chunk(&g.columns[to], &g.stats[to])
		for i, w := range wanted { // a column may be wanted twice, as two items of a list
			if w == at-1 {
				g.columns[i], g.stats[i] = g.columns[to], g.stats[to]
			}
		}
		return true
	})
	return at
}

func (t *thrift) chunk(c *chunkMeta, s *statistics) {
	t.structure(3, func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			c.elsewhere = len(t.binary()) > 0
		case id == 3 && kind == thriftStruct:
			c.described = true
			t.structure(4, func(id int, kind byte) bool {
				switch id {
				case 1:
					c.kind = t.number(kind)
				case 4:
					c.codec = t.number(kind)
				case 5:
					c.values = t.number(kind)
				case 6:
					c.unpacked = min(max(0, t.number(kind)), mostSize)
				case 7:
					c.packed = t.number(kind)
				case 9:
					c.data = t.number(kind)
				case 11:
					c.dictionary = t.number(kind)
				case 12:
					return t.statistics(kind, s)
				case 14:
					c.bloom.at = t.number(kind)
				case 15:
					c.bloom.size = t.number(kind)
				default:
					return false
				}
				return true
			})
		case id >= 4 && id <= 7:
			*[...]*int64{&c.places.at, &c.places.size, &c.bounds.at, &c.bounds.size}[id-4] = t.number(kind)
		case id == 8:
			c.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	c.from = c.data
	if c.dictionary > 0 && c.dictionary < c.data {
		c.from = c.dictionary
	}
	c.to = c.from + c.packed
}

// check checks that the row groups have as many rows as the file.
func (f *file) check() error {
	rows := int64(0)
	t := &thrift{p: f.groups}
	t.list(thriftList, func(of byte) bool {
		if !t.wants(of, thriftStruct) {
			return false
		}
		t.structure(1, func(id int, kind byte) bool {
			if id != 3 {
				return false
			}
			n := t.number(kind)
			if n < 0 || n > f.rows-rows {
				t.fail(errThrift)
			}
			rows += n
			return true
		})
		return true
	})
	switch {
	case t.err != nil:
		return damaged("the footer", "its row groups: %w", t.err)
	case rows != f.rows:
		return damaged("the footer", "the row groups have %d rows, and the file should have %d", rows, f.rows)
	}
	return nil
}

// sizes returns how many unpacked bytes the chunks of each leaf have. A footer may lie, so they are only good for estimates.
func (f *file) sizes(leaves int) []int64 {
	all := make([]int64, leaves)
	t := &thrift{p: f.groups}
	t.list(thriftList, func(of byte) bool {
		if !t.wants(of, thriftStruct) {
			return false
		}
		t.structure(1, func(id int, kind byte) bool {
			at := 0
			if id == 1 {
				t.list(kind, func(of byte) bool {
					size := t.chunkSize(of)
					if at < leaves {
						all[at] = min(all[at]+size, mostSize)
					}
					at++
					return true
				})
			}
			return id == 1
		})
		return true
	})
	return all
}

// mostSize bounds what sizes returns, so that sums of them do not overflow.
const mostSize = 1 << 46

// chunkSize returns how many unpacked bytes a column chunk has.
func (t *thrift) chunkSize(of byte) (size int64) {
	if !t.wants(of, thriftStruct) {
		return 0
	}
	t.structure(3, func(id int, kind byte) bool {
		if id != 3 || kind != thriftStruct {
			return false
		}
		t.structure(4, func(id int, kind byte) bool {
			if id == 6 {
				size = min(max(0, t.number(kind)), mostSize)
			}
			return id == 6
		})
		return true
	})
	return size
}
