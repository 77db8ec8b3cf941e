package batch

import "posta.dev/posta/internal/wire"

// readWidth reads a width in bytes: 0, 1, 2, 4 or 8, at most limit.
func readWidth(r *wire.Reader, limit uint64) int {
	w := r.Uint()
	if w > limit || w&(w-1) != 0 {
		r.Fail("%d is no width of a column, at most %d", w, limit)
		return 0
	}
	return int(w)
}
