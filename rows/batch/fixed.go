package batch

import (
	"encoding/binary"
	"slices"

	"posta.dev/posta/internal/wire"
)

// Numbers and codes are stored in blobs of a fixed width: each is low plus an unsigned number of 0, 1, 2, 4 or 8 bytes. Sums
// and differences wrap around, so any range of an int64 fits. Slice expressions with both bounds make the loops a quarter
// faster than open ones.

// appendFixed appends values in width bytes each, less low, which is the least of them.
func appendFixed[T int64 | uint32](dst []byte, values []T, low T, width int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, width*len(values))[:at+width*len(values)]
	out := dst[at:]
	switch width {
	case 1:
		for i, v := range values {
			out[i] = byte(v - low)
		}
	case 2:
		for i, v := range values {
			binary.LittleEndian.PutUint16(out[2*i:2*i+2], uint16(v-low))
		}
	case 4:
		for i, v := range values {
			binary.LittleEndian.PutUint32(out[4*i:4*i+4], uint32(v-low))
		}
	case 8:
		for i, v := range values {
			binary.LittleEndian.PutUint64(out[8*i:8*i+8], uint64(v-low))
		}
	}
	return dst
}

// readFixed reads rows values from p and appends them to dst.
func readFixed[T int64 | uint32](dst []T, p []byte, rows int, low T, width int) []T {
	at := len(dst)
	dst = slices.Grow(dst, rows)[:at+rows]
	out := dst[at:]
	switch width {
	case 0:
		for i := range out {
			out[i] = low
		}
	case 1:
		p = p[:len(out)]
		for i := range out {
			out[i] = low + T(p[i])
		}
	case 2:
		for i := range out {
			out[i] = low + T(binary.LittleEndian.Uint16(p[2*i:2*i+2]))
		}
	case 4:
		for i := range out {
			out[i] = low + T(binary.LittleEndian.Uint32(p[4*i:4*i+4]))
		}
	default:
		for i := range out {
			out[i] = low + T(binary.LittleEndian.Uint64(p[8*i:8*i+8]))
		}
	}
	return dst
}

// readWidth reads a width in bytes: 0, 1, 2, 4 or 8, at most limit.
func readWidth(r *wire.Reader, limit uint64) int {
	w := r.Uint()
	if w > limit || w&(w-1) != 0 {
		r.Fail("%d is not a width of a column, at most %d", w, limit)
		return 0
	}
	return int(w)
}

// widthFor returns the narrowest width that holds the numbers from 0 to max.
func widthFor(max uint64) int {
	switch {
	case max == 0:
		return 0
	case max < 1<<8:
		return 1
	case max < 1<<16:
		return 2
	case max < 1<<32:
		return 4
	default:
		return 8
	}
}
