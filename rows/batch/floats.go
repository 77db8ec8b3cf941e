package batch

import (
	"encoding/binary"
	"math"
	"slices"

	"posta.dev/posta/internal/wire"
)

// FloatBuilder is a column of float64.
type FloatBuilder struct{ values []float64 }

// Append adds the value of the next row. Every bit pattern is kept, NaN and -0 included.
func (b *FloatBuilder) Append(v float64) { b.values = append(b.values, v) }

// AppendAll adds the values of the next rows. It copies nothing if they were made in Room.
func (b *FloatBuilder) AppendAll(v []float64) { b.values = appendAll(b.values, v) }

// Room returns an empty slice with room for n values. It is valid until the builder changes.
func (b *FloatBuilder) Room(n int) []float64 { return room(&b.values, n) }

// Values returns the values of all rows, valid until the builder changes.
func (b *FloatBuilder) Values() []float64 { return b.values }

func (b *FloatBuilder) rows() int         { return len(b.values) }
func (b *FloatBuilder) truncate(rows int) { b.values = b.values[:rows] }
func (b *FloatBuilder) reset()            { b.values = b.values[:0] }
func (b *FloatBuilder) size() int         { return 8 * len(b.values) }

func (b *FloatBuilder) append(dst []byte, name string) []byte {
	dst = appendHead(dst, floatParts, name, Float)
	dst = wire.AppendBinHeader(dst, 8*len(b.values))
	at := len(dst)
	dst = slices.Grow(dst, 8*len(b.values))[:at+8*len(b.values)]
	out := dst[at:]
	for i, v := range b.values {
		binary.LittleEndian.PutUint64(out[8*i:], math.Float64bits(v))
	}
	return dst
}

// Floats is a view of a column of float64.
type Floats struct {
	p      []byte
	values []float64 // replaces p if it is not nil
}

func (b *FloatBuilder) view() any { return Floats{values: b.values} }

func readFloats(r *wire.Reader, rows int) Floats { return Floats{p: r.BytesOf(8 * rows)} }

// Values returns all values of a view of a builder, valid until the builder changes. It returns nil for a batch that was decoded.
func (v Floats) Values() []float64 { return v.values }

// AppendTo appends all values to dst. It is the fast way to read a whole column.
func (v Floats) AppendTo(dst []float64) []float64 {
	dst = append(slices.Grow(dst, len(v.p)/8), v.values...)
	for p := v.p; len(p) >= 8; p = p[8:] {
		dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(p)))
	}
	return dst
}

// At returns the value of a row.
func (v Floats) At(row int) float64 {
	if v.values != nil {
		return v.values[row]
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v.p[8*row:]))
}
