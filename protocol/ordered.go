package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// The ordered form of a row is bytes that sort as the row does, cell by cell, each ascending unless its Direction says otherwise. The row
// can be decoded from them. So rows are sorted and merged without being decoded. Each cell begins with a byte for its kind:
//
//	Null   nothing; it sorts after everything else
//	Int    8 bytes, big endian, with the sign bit inverted
//	Float  8 bytes, big endian: if the sign bit is not set, it is inverted; if it is set, all bits are. -0 sorts before 0, and NaN
//	       before or after all other numbers
//	Text   the bytes, with 0 as 0 0xff, and 0 0 at the end
//	Bool   as Int
//
// Analyses emit columns of one kind and of nulls. In such a column this is the order of the numbers, or of the bytes.

// [Direction] changes the order of one cell: Desc inverts all bytes behind the kind. NullsFirst adds one to the kind of a value and makes
// that of NULL 0.

// Direction is how a cell of a row is ordered. The zero value is ascending, with NULL behind all values.
type Direction struct{ Desc, NullsFirst bool }

// AppendOrdered appends the ordered form of a row whose cells are all ascending.
func AppendOrdered(dst []byte, row ...Value) []byte {
	for i := range row {
		dst = AppendOrderedCell(dst, &row[i], Direction{})
	}
	return dst
}

// AppendOrderedCell appends the ordered form of one cell.
func AppendOrderedCell(dst []byte, v *Value, d Direction) []byte {
	begin := len(dst)
	switch v.Kind {
	case Int, Bool:
		dst = binary.BigEndian.AppendUint64(append(dst, byte(v.Kind)), uint64(v.Int)^1<<63)
	case Null:
		dst = append(dst, byte(Null))
	case Float:
		n := math.Float64bits(v.Float)
		if n>>63 == 0 {
			n ^= 1 << 63
		} else {
			n = ^n
		}
		dst = binary.BigEndian.AppendUint64(append(dst, byte(Float)), n)
	default:
		dst = append(dst, byte(Text))
		rest := v.Text
		for i := strings.IndexByte(rest, 0); i >= 0; i = strings.IndexByte(rest, 0) {
			dst = append(append(dst, rest[:i+1]...), 0xff)
			rest = rest[i+1:]
		}
		dst = append(append(dst, rest...), 0, 0)
	}
	if d.NullsFirst {
		dst[begin] = (dst[begin] + 1) % kinds
	}
	if d.Desc {
		invert(dst[begin+1:])
	}
	return dst
}

// kinds is how many kinds there are. Null is the last of them.
const kinds = byte(Null) + 1

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

var errOrdered = errors.New("malformed row")

// ReadOrdered decodes a row with as many cells as row has, all of them ascending.
func ReadOrdered(b []byte, row []Value) error {
	for i := range row {
		cell, rest, err := CutOrderedCell(b, Direction{})
		if err != nil {
			return err
		}
		row[i], b = cell.Value(), rest
	}
	if len(b) > 0 {
		return errOrdered
	}
	return nil
}

// OrderedCell is a cell in its ordered form. Its bytes are those of the row that it was cut from. The zero value is no cell.
type OrderedCell struct {
	b []byte // well-formed
	d Direction
}

// CutOrderedCell returns the cell that b begins with, and the bytes behind it.
func CutOrderedCell(b []byte, d Direction) (cell OrderedCell, rest []byte, err error) {
	if len(b) == 0 || b[0] >= kinds {
		return OrderedCell{}, nil, errOrdered
	}
	c := OrderedCell{b, d}
	n := 1
	switch c.kind() {
	case Null:
	case Text:
		end := c.textEnd()
		if end < 0 {
			return OrderedCell{}, nil, errOrdered
		}
		n += end
	default:
		if n += 8; n > len(b) {
			return OrderedCell{}, nil, errOrdered
		}
	}
	c.b = b[:n:n]
	return c, b[n:], nil
}

func (c OrderedCell) kind() Kind {
	if c.d.NullsFirst {
		return Kind((c.b[0] + kinds - 1) % kinds)
	}
	return Kind(c.b[0])
}

// textEnd returns how many bytes a text takes behind its kind, with the two that end it; -1 if nothing ends it.
func (c OrderedCell) textEnd() int {
	zero, b := byte(0), c.b[1:]
	if c.d.Desc {
		zero = 0xff
	}
	for at := 0; ; at += 2 {
		n := bytes.IndexByte(b[at:], zero)
		if n < 0 || at+n+1 == len(b) {
			return -1
		}
		at += n
		switch b[at+1] ^ zero {
		case 0:
			return at + 2
		case 0xff:
		default:
			return -1
		}
	}
}

// text returns a text. It copies only one that is inverted or has zeros.
func (c OrderedCell) text() []byte {
	b := c.b[1 : len(c.b)-2]
	if c.d.Desc {
		b = bytes.Clone(b)
		invert(b)
	}
	if bytes.IndexByte(b, 0) < 0 {
		return b
	}
	return bytes.ReplaceAll(b, []byte{0, 0xff}, []byte{0})
}

// Value returns the value of a cell.
func (c OrderedCell) Value() Value {
	kind := c.kind()
	switch kind {
	case Null:
		return Value{Kind: Null}
	case Text:
		return Value{Text: string(c.text())}
	}
	n := binary.BigEndian.Uint64(c.b[1:])
	if c.d.Desc {
		n = ^n
	}
	switch {
	case kind == Int, kind == Bool:
		return Value{Kind: kind, Int: int64(n ^ 1<<63)}
	case n>>63 == 1:
		return Value{Kind: kind, Float: math.Float64frombits(n ^ 1<<63)}
	}
	return Value{Kind: kind, Float: math.Float64frombits(^n)}
}

// append appends the cell's value in msgpack, as Value.Append does. A text needs no string on the way.
func (c OrderedCell) append(dst []byte) []byte {
	if c.kind() != Text {
		return c.Value().Append(dst)
	}
	return appendCell(dst, c.text())
}
