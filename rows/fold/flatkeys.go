package fold

// flatKeys are keys that all have the same length. So the place of a key follows from its row: to find it, no memory is read, and none is
// taken to remember it.
type flatKeys struct {
	width  int
	blocks [][]byte // of cellBlock keys; all used blocks but the last are full, and those after it are empty
	n      int
}

func (f *flatKeys) key(row int) []byte {
	at := row % cellBlock * f.width
	return f.blocks[row>>cellShift][at : at+f.width : at+f.width]
}

// from returns the bytes of a key from a place on, and what follows them.
func (f *flatKeys) from(row, place int) []byte {
	return f.blocks[row>>cellShift][row%cellBlock*f.width+place:]
}

// push copies a key.
func (f *flatKeys) push(key []byte) {
	block := openBlock(&f.blocks, f.n>>cellShift, cellBlock*f.width)
	*block = append(*block, key...)
	f.n++
}

// reset forgets everything, but keeps the used blocks for the next time.
func (f *flatKeys) reset() {
	f.blocks, f.n = emptied(f.blocks, usedBlocks(f.n)), 0
}

func (f *flatKeys) memory() (n int) {
	for _, block := range f.blocks {
		n += cap(block)
	}
	return n
}
