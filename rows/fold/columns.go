package fold

import (
	"encoding/binary"
	"strings"
)

// KeyInts puts key k of the rows from a number on into dst, as many as dst has room for, and returns it.
func (t *Table) KeyInts(dst []int64, k, from int) []int64 {
	if t.spec.Keys[k].Kind != KeyInt {
		t.key.misused(KeyInt)
	}
	place := t.key.places[k]
	if flat := &t.index.flat; flat.width > 0 {
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(flat.from(from+i, place)))
		}
		return dst
	}
	for i := range dst {
		dst[i] = int64(binary.LittleEndian.Uint64(t.index.key(from + i)[place:]))
	}
	return dst
}

// KeyTexts is KeyInts for a KeyText. The texts are parts of one string, so that the collector of Go's runtime has little to look at.
func (t *Table) KeyTexts(dst []string, k, from int) {
	size := 0
	for i := range dst {
		size += len(t.KeyText(from+i, k))
	}
	var all strings.Builder
	all.Grow(size)
	for i := range dst {
		all.Write(t.KeyText(from+i, k))
	}
	rest := all.String()
	for i := range dst {
		n := len(t.KeyText(from+i, k))
		dst[i], rest = rest[:n], rest[n:]
	}
}

// KeyNulls sets bit i of nulls if key k is NULL in row from+i, of n rows, and reports whether one is.
func (t *Table) KeyNulls(k, from, n int, nulls []uint64) (some bool) {
	if !t.spec.Nulls {
		return false
	}
	for i := range n {
		if t.key.nullsAt(t.index.key(from+i))>>k&1 == 1 {
			nulls[i>>6] |= 1 << (i & 63)
			some = true
		}
	}
	return some
}
