package batch

import (
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/internal/fixed"
)

// Numbers and codes are stored in blobs of a fixed width (package fixed).

// readWidth reads a width in bytes: 0, 1, 2, 4 or 8, at most limit.
func readWidth(r *wire.Reader, limit uint64) int {
	w := r.Uint()
	if w > limit || w&(w-1) != 0 {
		r.Fail("%d is not a width of a column, at most %d", w, limit)
		return 0
	}
	return int(w)
}

// readFixed reads rows values from p and appends them to dst.
func readFixed[T fixed.Number](dst []T, p []byte, rows int, low T, width int) []T {
	at := len(dst)
	dst = slices.Grow(dst, rows)[:at+rows]
	fixed.Read(dst[at:], p, low, width)
	return dst
}
