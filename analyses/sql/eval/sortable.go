package eval

import (
	"math"

	"posta.dev/posta/analyses/sql/types"
)

// Sortable maps a value that is not NULL to a number, in the order of the type's values: NaN is the greatest, and -0 equals
// 0.
func Sortable(v *Vector, i int32) uint64 {
	switch {
	case v.Kind == types.Double:
		return SortableDouble(v.Floats[i])
	case v.Kind != types.Bool:
		return uint64(v.Ints[i]) ^ 1<<63
	case v.Bools[i]:
		return 1
	}
	return 0
}

// SortableDouble is Sortable for a DOUBLE.
func SortableDouble(f float64) uint64 {
	if f != f {
		f = math.NaN() // the positive NaN, which is above infinity
	}
	bits := math.Float64bits(f + 0)                 // -0 + 0 is 0
	return bits ^ (uint64(int64(bits)>>63) | 1<<63) // inverts all bits of a negative number, and the sign bit of others
}

// Unsort writes the value that Sortable has mapped to x.
func Unsort(v *Vector, row int32, x uint64) {
	switch {
	case v.Kind == types.Bool:
		v.Bools[row] = x == 1
	case v.Kind != types.Double:
		v.Ints[row] = int64(x ^ 1<<63)
	case x>>63 == 1:
		v.Floats[row] = math.Float64frombits(x &^ (1 << 63))
	default:
		v.Floats[row] = math.Float64frombits(^x)
	}
}
