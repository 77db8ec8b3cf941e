package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// The ordered form of a row is bytes that sort as the row does, cell by cell, each ascending unless its Direction says otherwise. The row can be decoded from them. So rows
// are sorted and merged without being decoded. Each cell begins with a byte for its kind:
//
//	Null   nothing; it sorts after everything else
//	Int    8 bytes, big endian, with the sign bit inverted
//	Float  8 bytes, big endian: if the sign bit is not set, it is inverted; if it is set, all bits are. -0 sorts before 0, and NaN
//	       before or after all other numbers
//	Text   the bytes, with 0 as 0 0xff, and 0 0 at the end
//	Bool   as Int
//
// Analyses emit columns of one kind and of nulls. In such a column this is the order of the numbers, or of the bytes.

// [Direction] changes the order of one cell: Desc inverts all bytes behind the kind. NullsFirst adds one to the kind of a value and makes that
// of NULL 0.

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
		for i := 0; i < len(rest); i++ {
			if dst = append(dst, rest[i]); rest[i] == 0 {
				dst = append(dst, 0xff)
			}
		}
		dst = append(dst, 0, 0)
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
func ReadOrdered(b []byte, row []Value) (err error) {
	for i := range row {
		if row[i], b, err = CutOrderedCell(b, Direction{}); err != nil {
			return err
		}
	}
	if len(b) > 0 {
		return errOrdered
	}
	return nil
}

// CutOrderedCell decodes the cell that b begins with, and returns the bytes behind it.
func CutOrderedCell(b []byte, d Direction) (v Value, rest []byte, err error) {
	if len(b) == 0 || b[0] >= kinds {
		return v, nil, errOrdered
	}
	kind := Kind(b[0])
	if d.NullsFirst {
		kind = Kind((b[0] + kinds - 1) % kinds)
	}
	b = b[1:]
	switch {
	case kind == Text && d.Desc:
		v.Text, rest, err = readInvertedText(b)
		return v, rest, err
	case kind == Text:
		v.Text, rest, err = readOrderedText(b)
		return v, rest, err
	case kind == Null:
		return Value{Kind: Null}, b, nil
	case len(b) < 8:
		return v, nil, errOrdered
	}
	n := binary.BigEndian.Uint64(b)
	if d.Desc {
		n = ^n
	}
	v.Kind = kind
	switch {
	case kind == Int, kind == Bool:
		v.Int = int64(n ^ 1<<63)
	case n>>63 == 1:
		v.Float = math.Float64frombits(n ^ 1<<63)
	default:
		v.Float = math.Float64frombits(^n)
	}
	return v, b[8:], nil
}

// readInvertedText reads a text whose bytes are inverted. It inverts only the bytes of this text, of which there is a copy anyway.
func readInvertedText(b []byte) (text string, rest []byte, err error) {
	end := 0
	for ; ; end += 2 {
		n := bytes.IndexByte(b[end:], 0xff)
		if n < 0 || end+n+1 == len(b) {
			return "", nil, errOrdered
		}
		if end += n; b[end+1] == 0xff {
			break
		}
	}
	own := bytes.Clone(b[:end+2])
	invert(own)
	text, _, err = readOrderedText(own)
	return text, b[end+2:], err
}

func readOrderedText(b []byte) (text string, rest []byte, err error) {
	var whole []byte // nil unless there are zeros
	for {
		n := bytes.IndexByte(b, 0)
		switch {
		case n < 0 || n+1 == len(b) || b[n+1] != 0 && b[n+1] != 0xff:
			return "", nil, errOrdered
		case b[n+1] == 0xff:
			whole = append(whole, b[:n+1]...)
		case whole == nil:
			return string(b[:n]), b[n+2:], nil
		default:
			return string(append(whole, b[:n]...)), b[n+2:], nil
		}
		b = b[n+2:]
	}
}
