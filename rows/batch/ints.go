package batch

import (
	"encoding/binary"
	"slices"

	"posta.dev/posta/internal/wire"
)

// IntBuilder is a column of int64.
type IntBuilder struct{ values []int64 }

// Append adds the value of the next row.
func (b *IntBuilder) Append(v int64) { b.values = append(b.values, v) }

func (b *IntBuilder) rows() int         { return len(b.values) }
func (b *IntBuilder) truncate(rows int) { b.values = b.values[:rows] }
func (b *IntBuilder) reset()            { b.values = b.values[:0] }
func (b *IntBuilder) size() int         { return 8 * len(b.values) }

func (b *IntBuilder) append(dst []byte, name string) []byte {
	low, width := int64(0), 0
	if len(b.values) > 0 {
		var high int64
		low, high = minMax(b.values)
		// The difference of two int64 always fits a uint64, so the range never overflows.
		width = widthFor(uint64(high) - uint64(low))
	}
	dst = appendHead(dst, intParts, name, Int)
	dst = wire.AppendInt(dst, low)
	dst = wire.AppendUint(dst, uint64(width))
	dst = wire.AppendBinHeader(dst, width*len(b.values))
	return appendAbove(dst, b.values, uint64(low), width)
}

func minMax(values []int64) (low, high int64) {
	low, high = values[0], values[0]
	for _, v := range values[1:] {
		low = min(low, v)
		high = max(high, v)
	}
	return low, high
}

// appendAbove appends v - low of each value in width bytes.
func appendAbove(dst []byte, values []int64, low uint64, width int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, width*len(values))[:at+width*len(values)]
	out := dst[at:]
	switch width {
	case 1:
		for i, v := range values {
			out[i] = byte(uint64(v) - low)
		}
	case 2:
		for i, v := range values {
			binary.LittleEndian.PutUint16(out[2*i:], uint16(uint64(v)-low))
		}
	case 4:
		for i, v := range values {
			binary.LittleEndian.PutUint32(out[4*i:], uint32(uint64(v)-low))
		}
	case 8:
		for i, v := range values {
			binary.LittleEndian.PutUint64(out[8*i:], uint64(v)-low)
		}
	}
	return dst
}

// Ints is a view of a column of int64.
type Ints struct {
	p     []byte
	low   uint64
	width int
	rows  int
}

func readInts(r *wire.Reader, rows int) Ints {
	v := Ints{low: uint64(r.Int()), rows: rows}
	v.width = readWidth(r, 8)
	v.p = r.BytesOf(rows * v.width)
	return v
}

// Len returns the number of rows.
func (v Ints) Len() int { return v.rows }

// At returns the value of a row.
func (v Ints) At(row int) int64 {
	switch v.width {
	case 0:
		return int64(v.low)
	case 1:
		return int64(v.low + uint64(v.p[row]))
	case 2:
		return int64(v.low + uint64(binary.LittleEndian.Uint16(v.p[2*row:])))
	case 4:
		return int64(v.low + uint64(binary.LittleEndian.Uint32(v.p[4*row:])))
	default:
		return int64(v.low + binary.LittleEndian.Uint64(v.p[8*row:]))
	}
}

// Const returns the value that all rows have, if the column is stored as one value.
func (v Ints) Const() (value int64, ok bool) { return int64(v.low), v.width == 0 }

// AppendTo appends all values to dst. It is the fast way to read a whole column.
func (v Ints) AppendTo(dst []int64) []int64 {
	at := len(dst)
	dst = slices.Grow(dst, v.rows)[:at+v.rows]
	out, p, low := dst[at:], v.p, v.low
	switch v.width {
	case 0:
		for i := range out {
			out[i] = int64(low)
		}
	case 1:
		p = p[:len(out)]
		for i := range out {
			out[i] = int64(low + uint64(p[i]))
		}
	case 2:
		for i := range out {
			out[i] = int64(low + uint64(binary.LittleEndian.Uint16(p[2*i:])))
		}
	case 4:
		for i := range out {
			out[i] = int64(low + uint64(binary.LittleEndian.Uint32(p[4*i:])))
		}
	default:
		for i := range out {
			out[i] = int64(low + binary.LittleEndian.Uint64(p[8*i:]))
		}
	}
	return dst
}
