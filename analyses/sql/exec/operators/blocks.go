package operators

import (
	"math"
	"slices"
	"strings"
)

// blocks keeps values in blocks of equal length. A slice that grows by append is copied each time, and takes the memory of both
// copies meanwhile; a block stays where it is.
type blocks[T any] struct{ list [][]T }

const (
	blockBits = 13
	blockRows = 1 << blockBits // values in each block but the last
)

func (b *blocks[T]) at(row int32) T { return b.list[uint32(row)>>blockBits][row&(blockRows-1)] }

// open returns the index of a block with room for a value. Only the first block grows by append, so that few values take little
// memory.
func (b *blocks[T]) open() int {
	k := len(b.list) - 1
	switch {
	case k < 0:
		b.list = append(b.list, nil)
	case len(b.list[k]) == blockRows:
		b.list = append(b.list, make([]T, 0, blockRows))
	}
	return len(b.list) - 1
}

func (b *blocks[T]) append(v T) {
	k := b.open()
	b.list[k] = append(b.list[k], v)
}

// add appends the selected values.
func (b *blocks[T]) add(values []T, sel []int32) {
	for len(sel) > 0 {
		k := b.open()
		n := min(len(sel), blockRows-len(b.list[k]))
		to := slices.Grow(b.list[k], n)
		for _, i := range sel[:n] {
			to = append(to, values[i])
		}
		b.list[k], sel = to, sel[n:]
	}
}

// take copies the values of the given rows.
func (b *blocks[T]) take(to []T, rows []int32) {
	list := b.list
	for k, r := range rows {
		to[k] = list[uint32(r)>>blockBits][r&(blockRows-1)]
	}
}

// slab keeps texts one after another in large pieces. The collector of Go's runtime looks at every string on its own, but at
// a place, which has no pointer, it never looks.
type slab struct {
	full []string
	last strings.Builder
}

// place locates a text in a slab.
type place struct{ piece, from, length uint32 }

const (
	leastPiece = 1 << 10 // bytes; each piece is twice as large as the one before
	mostPiece  = 1 << 20
)

// add keeps a text of less than 4 GiB.
func (s *slab) add(text string) place {
	if len(text) > s.last.Cap()-s.last.Len() {
		if s.last.Cap() > 0 {
			s.full = append(s.full, s.last.String())
		}
		size := max(min(2*s.last.Cap(), mostPiece), leastPiece, len(text))
		s.last = strings.Builder{}
		s.last.Grow(size)
	}
	p := place{uint32(len(s.full)), uint32(s.last.Len()), uint32(len(text))}
	s.last.WriteString(text)
	return p
}

// fits reports whether a slab can keep a text.
func (s *slab) fits(text string) bool { return uint64(len(text)) <= math.MaxUint32 }

// close ends the slab. Only then its texts can be read.
func (s *slab) close() {
	s.full = append(s.full, s.last.String())
	s.last = strings.Builder{}
}

func (s *slab) text(p place) string { return s.full[p.piece][p.from : p.from+p.length] }
