// Package fixed writes and reads numbers in a fixed width: each is the least of them plus an unsigned number of 0, 1, 2, 4 or 8 bytes,
// little-endian. Sums and differences wrap around, so any range of an int64 fits.
//
// Slice expressions with both bounds make the loops a quarter faster than open ones.
package fixed

import (
	"encoding/binary"
	"math"
	"slices"
)

// Number is what the columns of batches and of chunks consist of.
type Number interface{ int64 | uint32 }

// Width returns the narrowest width, in bytes, of the numbers from 0 to most.
func Width(most uint64) int {
	switch {
	case most == 0:
		return 0
	case most <= math.MaxUint8:
		return 1
	case most <= math.MaxUint16:
		return 2
	case most <= math.MaxUint32:
		return 4
	}
	return 8
}

// Append appends values, of which least is the least one, in width bytes each.
func Append[T Number](dst []byte, values []T, least T, width int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, width*len(values))[:at+width*len(values)]
	out := dst[at:]
	switch width {
	case 1:
		for i, v := range values {
			out[i] = byte(v - least)
		}
	case 2:
		for i, v := range values {
			binary.LittleEndian.PutUint16(out[2*i:2*i+2], uint16(v-least))
		}
	case 4:
		for i, v := range values {
			binary.LittleEndian.PutUint32(out[4*i:4*i+4], uint32(v-least))
		}
	case 8:
		for i, v := range values {
			binary.LittleEndian.PutUint64(out[8*i:8*i+8], uint64(v-least))
		}
	}
	return dst
}

// Read fills out with the first numbers of p, which has as many at least.
func Read[T Number](out []T, p []byte, least T, width int) {
	switch width {
	case 0:
		for i := range out {
			out[i] = least
		}
	case 1:
		p = p[:len(out)]
		for i := range out {
			out[i] = least + T(p[i])
		}
	case 2:
		for i := range out {
			out[i] = least + T(binary.LittleEndian.Uint16(p[2*i:2*i+2]))
		}
	case 4:
		for i := range out {
			out[i] = least + T(binary.LittleEndian.Uint32(p[4*i:4*i+4]))
		}
	default:
		for i := range out {
			out[i] = least + T(binary.LittleEndian.Uint64(p[8*i:8*i+8]))
		}
	}
}

// ReadSome fills out with the numbers of p at some places.
func ReadSome[T Number](out []T, p []byte, least T, width int, at []int32) {
	out = out[:len(at)]
	switch width {
	case 0:
		for i := range out {
			out[i] = least
		}
	case 1:
		for i, k := range at {
			out[i] = least + T(p[k])
		}
	case 2:
		for i, k := range at {
			out[i] = least + T(binary.LittleEndian.Uint16(p[2*int(k):2*int(k)+2]))
		}
	case 4:
		for i, k := range at {
			out[i] = least + T(binary.LittleEndian.Uint32(p[4*int(k):4*int(k)+4]))
		}
	default:
		for i, k := range at {
			out[i] = least + T(binary.LittleEndian.Uint64(p[8*int(k):8*int(k)+8]))
		}
	}
}
