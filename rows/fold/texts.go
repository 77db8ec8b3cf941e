package fold

import (
	"bytes"
	"math/bits"
)

// textRef locates a text in blocks. The zero value stands for no text, which differs from an empty text.
type textRef struct {
	at   uint64
	size uint32 // length + 1
	room uint32 // how many bytes are available at at
}

func (r textRef) set() bool { return r.size > 0 }

// texts holds cells of text, width of them per row. A new text overwrites the old one if it fits. Otherwise the old one becomes
// a hole, and when holes make up half of the memory, the texts are copied without them.
type texts struct {
	width int
	shift uint        // shifting a row's number gives its block
	refs  [][]textRef // blocks of whole rows, as in cells
	rows  int
	bytes blocks
	size  int // how many bytes it has
	holes int // how many of these are holes
}

// newTexts returns cells of width texts each.
func newTexts(width int) texts {
	return texts{width: width, shift: uint(max(0, cellShift-bits.Len(uint(width-1))))}
}

func (t *texts) addRow() {
	block := openBlock(&t.refs, t.rows>>t.shift, t.width<<t.shift)
	for range t.width {
		*block = append(*block, textRef{})
	}
	t.rows++
}

func (t *texts) row(row int) []textRef {
	at := (row & (1<<t.shift - 1)) * t.width
	return t.refs[row>>t.shift][at : at+t.width]
}

// ref is row for a width of 1.
func (t *texts) ref(row int) *textRef { return &t.refs[row>>t.shift][row&(1<<t.shift-1)] }

func (t *texts) view(r textRef) []byte {
	if !r.set() {
		return nil
	}
	n := int(r.size) - 1
	return t.bytes.from(r.at)[:n:n]
}

// put replaces the text of ref. ref is one of t.refs, or a copy that the caller writes back.
func (t *texts) put(ref *textRef, v []byte) {
	if int(ref.room) < len(v) || !ref.set() {
		t.holes += int(ref.room)
		ref.at, ref.room = t.bytes.add(v), uint32(len(v))
		t.size += len(v)
	} else {
		copy(t.bytes.from(ref.at), v)
	}
	ref.size = uint32(len(v)) + 1
}

const manyHoles = 1 << 12

// compact copies the texts if half of the memory is holes. Callers must not keep a ref across the call.
func (t *texts) compact() {
	if t.holes < manyHoles || 2*t.holes < t.size {
		return
	}
	var fresh blocks
	for _, block := range t.refs {
		for i := range block {
			r := &block[i]
			if !r.set() {
				continue
			}
			v := t.view(*r)
			r.at, r.room = fresh.add(v), uint32(len(v))
		}
	}
	t.bytes, t.size, t.holes = fresh, t.size-t.holes, 0
}

// putLess puts v into a row of width 1 if v is smaller than its text (larger, if sign is -1), or the row has none.
func (t *texts) putLess(row int, v []byte, sign int) {
	ref := t.ref(row)
	if ref.set() && sign*bytes.Compare(v, t.view(*ref)) >= 0 {
		return
	}
	t.put(ref, v)
	t.compact()
}

// putLeast adds v to the least texts of a row, which are sorted and distinct.
func (t *texts) putLeast(row int, v []byte) {
	refs := t.row(row)
	last := len(refs) - 1
	at := 0
	if refs[last].set() && bytes.Compare(v, t.view(refs[last])) >= 0 {
		return
	}
	for at < last && refs[at].set() {
		c := bytes.Compare(v, t.view(refs[at]))
		if c == 0 {
			return
		}
		if c < 0 {
			break
		}
		at++
	}
	room := refs[last] // the displaced text leaves its room to the new one
	copy(refs[at+1:], refs[at:last])
	refs[at] = room
	t.put(&refs[at], v)
	t.compact()
}

func (t *texts) reset() {
	t.refs = emptied(t.refs, (t.rows+1<<t.shift-1)>>t.shift)
	t.rows, t.size, t.holes = 0, 0, 0
	t.bytes.reset()
}

func (t *texts) memory() int {
	n := t.bytes.memory()
	for _, block := range t.refs {
		n += 16 * cap(block)
	}
	return n
}
