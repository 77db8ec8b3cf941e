package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// The ordered form of a row is bytes that sort as the row does, column by column, each ascending. The row can be decoded from them. So rows
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

// AppendOrdered appends the ordered form of a row.
func AppendOrdered(dst []byte, row ...Value) []byte {
	for i := range row {
		switch v := &row[i]; v.Kind {
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
	}
	return dst
}

var errOrdered = errors.New("malformed row")

// ReadOrdered decodes a row with as many cells as row has.
func ReadOrdered(b []byte, row []Value) error {
	for i := range row {
		if len(b) == 0 {
			return errOrdered
		}
		kind := Kind(b[0])
		b = b[1:]
		if kind == Text {
			text, rest, err := readOrderedText(b)
			if err != nil {
				return err
			}
			row[i], b = Value{Text: text}, rest
			continue
		}
		if kind == Null {
			row[i] = Value{Kind: Null}
			continue
		}
		if len(b) < 8 || kind > Null {
			return errOrdered
		}
		n := binary.BigEndian.Uint64(b)
		b = b[8:]
		switch {
		case kind == Int, kind == Bool:
			row[i] = Value{Kind: kind, Int: int64(n ^ 1<<63)}
		case n>>63 == 1:
			row[i] = Value{Kind: Float, Float: math.Float64frombits(n ^ 1<<63)}
		default:
			row[i] = Value{Kind: Float, Float: math.Float64frombits(^n)}
		}
	}
	if len(b) > 0 {
		return errOrdered
	}
	return nil
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
