package columnar

import (
	"encoding/binary"
	"fmt"
	"slices"

	"posta.dev/posta/rows/internal/fixed"
)

// column is a column of the chunk. Fields that its kind does not need stay empty.
type column struct {
	kind    Kind
	rows    int
	nulls   []byte
	lengths []byte // text
	width   int    // of lengths
	bytes   []byte
	next    int // text: where the text of the row begins

	ends       []uint32 // dict: entry k is bytes[ends[k]:ends[k+1]]
	values     []byte   // codes of dict, or values
	valueWidth int
	least      int64
	cells      []Cell // dict: the result of Parse for each entry
	texts      uint64 // dict: bytes of the entries, each counted as often as rows refer to it

	asked, begins int // text: the row that was last asked for, and where its text begins
}

func (c *column) isNull(row int) bool {
	return len(c.nulls) > 0 && c.nulls[row/8]>>(row%8)&1 != 0
}

// text returns the text of any row, nil if it is NULL. It is slow.
func (c *column) text(row int) []byte {
	if c.isNull(row) {
		return nil
	}
	switch c.kind {
	case null:
		return nil
	case text:
		if row < c.asked {
			c.asked, c.begins = 0, 0
		}
		for ; c.asked < row; c.asked++ {
			c.begins += int(at(c.lengths, c.width, c.asked))
		}
		return field(c.bytes, c.begins, int(at(c.lengths, c.width, row)))
	case dict:
		code := at(c.values, c.valueWidth, row)
		if code == 0 {
			return nil
		}
		return field(c.bytes, int(c.ends[code-1]), int(c.ends[code]-c.ends[code-1]))
	}
	return appendValue(nil, c.kind, c.least+int64(at(c.values, c.valueWidth, row)))
}

// reset checks the body of a column, so that no row can read outside of it.
func (c *column) reset(kind Kind, body []byte, rows int) error {
	*c = column{kind: kind, rows: rows, ends: c.ends[:0], cells: c.cells[:0]}
	r := reader{p: body}
	switch kind {
	case null:
	case text:
		c.nulls = r.nulls(rows)
		var sum uint64
		if c.lengths, c.width, sum = r.lengths(uint64(rows)); r.err == nil {
			c.bytes = r.take(sum)
		}
	case dict:
		entries := r.uvarint()
		if entries > uint64(rows) {
			r.fail("it has %d entries for %d rows", entries, rows)
		}
		lengths, width, sum := r.lengths(entries)
		if r.err != nil {
			break
		}
		c.bytes = r.take(sum)
		c.values, c.valueWidth = r.fixed(rows, 4)
		if r.err != nil {
			break
		}
		c.ends = slices.Grow(c.ends, int(entries)+1)
		end := uint32(0)
		c.ends = append(c.ends, 0)
		for i := range int(entries) {
			end += uint32(at(lengths, width, i))
			c.ends = append(c.ends, end)
		}
		if err := c.checkCodes(); err != nil {
			return err
		}
	case Float:
		c.nulls = r.nulls(rows)
		c.values, c.valueWidth = r.take(8*uint64(rows)), 8
	default:
		if !kind.integer() {
			return fmt.Errorf("%w: its values are of a kind that is not known (%d)", ErrMalformed, kind)
		}
		c.nulls = r.nulls(rows)
		if p := r.take(8); r.err == nil {
			c.least = int64(binary.LittleEndian.Uint64(p))
		}
		c.values, c.valueWidth = r.fixed(rows, 8)
	}
	if r.err == nil && len(r.p) > 0 {
		r.fail("%d bytes are left behind its values", len(r.p))
	}
	return r.err
}

// checkCodes checks that each code has an entry, and adds up the entries' bytes.
func (c *column) checkCodes() error {
	var block [MaxRun]uint32
	entries := uint32(len(c.ends) - 1)
	for first := 0; first < c.rows; first += len(block) {
		codes := block[:min(len(block), c.rows-first)]
		fixed.Read(codes, c.values[first*c.valueWidth:], 0, c.valueWidth)
		for k, code := range codes {
			if code > entries {
				return fmt.Errorf("%w: row %d refers to entry %d of %d", ErrMalformed, first+k+1, code, entries)
			}
			if code > 0 {
				c.texts += uint64(c.ends[code] - c.ends[code-1])
			}
		}
	}
	return nil
}

// parse parses each entry once.
func (c *column) parse(parse func([]byte) (Cell, bool)) {
	for i := range len(c.ends) - 1 {
		v, ok := parse(field(c.bytes, int(c.ends[i]), int(c.ends[i+1]-c.ends[i])))
		v.OK = ok
		c.cells = append(c.cells, v)
	}
}
