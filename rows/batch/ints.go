package batch

import (
	"encoding/binary"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/internal/fixed"
)

// IntBuilder is a column of int64.
type IntBuilder struct{ values []int64 }

// Append adds the value of the next row.
func (b *IntBuilder) Append(v int64) { b.values = append(b.values, v) }

// AppendAll adds the values of the next rows. It copies nothing if they were made in Room.
func (b *IntBuilder) AppendAll(v []int64) { b.values = appendAll(b.values, v) }

// Room returns an empty slice with room for n values. It is valid until the builder changes.
func (b *IntBuilder) Room(n int) []int64 { return room(&b.values, n) }

func room[T any](values *[]T, n int) []T {
	*values = slices.Grow(*values, n)
	return (*values)[len(*values):]
}

func appendAll[T any](values, v []T) []T {
	if n := len(values); len(v) > 0 && cap(values)-n >= len(v) && &v[0] == &values[:n+1][n] {
		return values[:n+len(v)]
	}
	return append(values, v...)
}

// Values returns the values of all rows, valid until the builder changes.
func (b *IntBuilder) Values() []int64 { return b.values }

func (b *IntBuilder) rows() int         { return len(b.values) }
func (b *IntBuilder) truncate(rows int) { b.values = b.values[:rows] }
func (b *IntBuilder) reset()            { b.values = b.values[:0] }
func (b *IntBuilder) size() int         { return 8 * len(b.values) }

func (b *IntBuilder) append(dst []byte, name string) []byte {
	low, width := int64(0), 0
	if len(b.values) > 0 {
		var high int64
		low, high = minMax(b.values)
		// The difference of two int64 always fits a uint64.
		width = fixed.Width(uint64(high) - uint64(low))
	}
	dst = appendHead(dst, intParts, name, Int)
	dst = wire.AppendInt(dst, low)
	dst = wire.AppendUint(dst, uint64(width))
	dst = wire.AppendBinHeader(dst, width*len(b.values))
	return fixed.Append(dst, b.values, low, width)
}

func minMax(values []int64) (low, high int64) {
	low, high = values[0], values[0]
	for _, v := range values[1:] {
		low = min(low, v)
		high = max(high, v)
	}
	return low, high
}

// Ints is a view of a column of int64.
type Ints struct {
	p      []byte
	low    int64
	width  int // or plain: the values are not in p
	rows   int
	values []int64
}

// plain is the width of columns that are in memory in a builder's form.
const plain = -1

func (b *IntBuilder) view() any { return Ints{width: plain, rows: len(b.values), values: b.values} }

func readInts(r *wire.Reader, rows int) Ints {
	v := Ints{low: r.Int(), rows: rows}
	v.width = readWidth(r, 8)
	v.p = r.BytesOf(rows * v.width)
	return v
}

// At returns the value of a row.
func (v Ints) At(row int) int64 {
	switch v.width {
	case 0:
		return v.low
	case 1:
		return v.low + int64(v.p[row])
	case 2:
		return v.low + int64(binary.LittleEndian.Uint16(v.p[2*row:]))
	case 4:
		return v.low + int64(binary.LittleEndian.Uint32(v.p[4*row:]))
	case plain:
		return v.values[row]
	default:
		return v.low + int64(binary.LittleEndian.Uint64(v.p[8*row:]))
	}
}

// Const returns the value that all rows have, if the column is stored as one value.
func (v Ints) Const() (value int64, ok bool) { return v.low, v.width == 0 }

// Values returns all values of a view of a builder, valid until the builder changes. It returns nil for a batch that was decoded.
func (v Ints) Values() []int64 { return v.values }

// AppendRows appends the values of n rows to dst, from row first on.
func (v Ints) AppendRows(dst []int64, first, n int) []int64 {
	if v.width == plain {
		return append(dst, v.values[first:first+n]...)
	}
	return readFixed(dst, v.p[first*v.width:(first+n)*v.width], n, v.low, v.width)
}

// AppendTo appends all values to dst. It is the fast way to read a whole column.
func (v Ints) AppendTo(dst []int64) []int64 {
	if v.width == plain {
		return append(dst, v.values...)
	}
	return readFixed(dst, v.p, v.rows, v.low, v.width)
}
