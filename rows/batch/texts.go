package batch

import (
	"encoding/binary"
	"fmt"
	"math"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/internal/fixed"
)

// heap is strings end to end: string i is bytes[offsets[i]:offsets[i+1]]. Text columns and dictionaries are heaps.
type heap struct {
	offsets []uint32 // one more than there are strings; the first is 0
	bytes   []byte
}

func (h *heap) add(p []byte) {
	if uint64(len(h.bytes))+uint64(len(p)) > math.MaxUint32 {
		// Frames are far smaller, and so are the chunks that builders are filled from.
		panic(fmt.Errorf("%w: more than 4 GiB of text in one column", ErrTooLarge))
	}
	h.bytes = append(h.bytes, p...)
	h.offsets = append(h.offsets, uint32(len(h.bytes)))
}

func (h *heap) len() int        { return len(h.offsets) - 1 }
func (h *heap) at(i int) []byte { return h.bytes[h.offsets[i]:h.offsets[i+1]] }
func (h *heap) size() int       { return 4*len(h.offsets) + len(h.bytes) }

func (h *heap) truncate(n int) {
	h.offsets = h.offsets[:n+1]
	h.bytes = h.bytes[:h.offsets[n]]
}

func (h *heap) append(dst []byte) []byte {
	dst = wire.AppendBinHeader(dst, 4*len(h.offsets))
	return wire.AppendBin(fixed.Append(dst, h.offsets, 0, 4), h.bytes)
}

// heapView is a view of a heap in a frame, or of a builder's heap.
type heapView struct {
	offsets, bytes []byte
	plain          []uint32 // replaces offsets if it is not nil
}

func readHeap(r *wire.Reader) heapView { return heapView{offsets: r.Bytes(), bytes: r.Bytes()} }

func (h *heap) view() heapView { return heapView{bytes: h.bytes, plain: h.offsets} }

func (v heapView) len() int {
	if v.plain != nil {
		return len(v.plain) - 1
	}
	return len(v.offsets)/4 - 1
}

func (v heapView) at(i int) []byte {
	if v.plain != nil {
		from, to := v.plain[i], v.plain[i+1]
		return v.bytes[from:to:to]
	}
	o := v.offsets[4*i : 4*i+8]
	from, to := binary.LittleEndian.Uint32(o), binary.LittleEndian.Uint32(o[4:])
	return v.bytes[from:to:to]
}

// check makes at safe: offsets start at 0, never decrease, and end at the length of bytes.
func (v heapView) check() error {
	if len(v.offsets) < 4 || len(v.offsets)%4 != 0 {
		return fmt.Errorf("%w: %d bytes of offsets", ErrMalformed, len(v.offsets))
	}
	last := uint32(0)
	if first := binary.LittleEndian.Uint32(v.offsets); first != 0 {
		return fmt.Errorf("%w: offsets start at %d, not 0", ErrMalformed, first)
	}
	for p := v.offsets; len(p) >= 4; p = p[4:] {
		o := binary.LittleEndian.Uint32(p)
		if o < last {
			return fmt.Errorf("%w: offset %d after %d", ErrMalformed, o, last)
		}
		last = o
	}
	if uint64(last) != uint64(len(v.bytes)) {
		return fmt.Errorf("%w: offsets end at %d, there are %d bytes", ErrMalformed, last, len(v.bytes))
	}
	return nil
}

// TextBuilder is a column of byte strings.
type TextBuilder struct{ heap heap }

func newTextBuilder() *TextBuilder { return &TextBuilder{heap{offsets: []uint32{0}}} }

// Append adds the value of the next row, and copies it.
func (b *TextBuilder) Append(v []byte) { b.heap.add(v) }

func (b *TextBuilder) rows() int         { return b.heap.len() }
func (b *TextBuilder) truncate(rows int) { b.heap.truncate(rows) }
func (b *TextBuilder) reset()            { b.heap.truncate(0) }
func (b *TextBuilder) size() int         { return b.heap.size() }

func (b *TextBuilder) append(dst []byte, name string) []byte {
	return b.heap.append(appendHead(dst, textParts, name, Text))
}

// Texts is a view of a column of byte strings.
type Texts struct{ heap heapView }

func readTexts(r *wire.Reader, rows int) (Texts, error) {
	v := Texts{readHeap(r)}
	if r.Err() != nil {
		return v, nil
	}
	if err := v.heap.check(); err != nil {
		return v, err
	}
	if v.heap.len() != rows {
		return v, fmt.Errorf("%w: %d texts in %d rows", ErrMalformed, v.heap.len(), rows)
	}
	return v, nil
}

func (b *TextBuilder) view() any { return Texts{b.heap.view()} }

// At returns the value of a row, a view into the frame.
func (v Texts) At(row int) []byte { return v.heap.at(row) }
