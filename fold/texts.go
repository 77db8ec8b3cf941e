package fold

import "bytes"

// textRef is a text in blocks; the zero value is no text, which is not the same as an empty one.
type textRef struct {
	at   uint64
	size uint32 // length + 1
	room uint32 // bytes there are at at
}

func (r textRef) set() bool { return r.size > 0 }

// texts is cells of text, width of them per row. A text that is replaced is overwritten where it fits; what does not leaves a hole,
// and when the holes are half of all the texts are copied without them.
type texts struct {
	width int
	refs  []textRef
	bytes blocks
	size  int // of bytes
	holes int // in it
}

func (t *texts) addRow() {
	for range t.width {
		t.refs = append(t.refs, textRef{})
	}
}

func (t *texts) row(row int) []textRef { return t.refs[row*t.width : (row+1)*t.width] }

func (t *texts) view(r textRef) []byte {
	if !r.set() {
		return nil
	}
	n := int(r.size) - 1
	return t.bytes.from(r.at)[:n:n]
}

// put replaces the text of ref, which is one of t.refs, or a copy of one that is put back.
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

// tidy copies the texts if half of all is holes. It is called when no ref is in the caller's hands.
func (t *texts) tidy() {
	if t.holes < manyHoles || 2*t.holes < t.size {
		return
	}
	var fresh blocks
	for i := range t.refs {
		r := &t.refs[i]
		if !r.set() {
			continue
		}
		v := t.view(*r)
		r.at, r.room = fresh.add(v), uint32(len(v))
	}
	t.bytes, t.size, t.holes = fresh, t.size-t.holes, 0
}

// putLess puts v into a row of width 1 if it is smaller than what is there (larger, if sign is -1), or nothing is.
func (t *texts) putLess(row int, v []byte, sign int) {
	ref := &t.refs[row]
	if ref.set() && sign*bytes.Compare(v, t.view(*ref)) >= 0 {
		return
	}
	t.put(ref, v)
	t.tidy()
}

// putLeast puts v among the least texts of a row, which are in order and distinct.
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
	room := refs[last] // the one that is pushed out leaves its room to the new one
	copy(refs[at+1:], refs[at:last])
	refs[at] = room
	t.put(&refs[at], v)
	t.tidy()
}

func (t *texts) reset() {
	t.refs, t.size, t.holes = t.refs[:0], 0, 0
	t.bytes.reset()
}

func (t *texts) memory() int { return 16*cap(t.refs) + t.bytes.memory() }
