package fold

// blocks is memory for bytes that never move after they are added. It grows block by block. Rejected: a single array that is
// copied to a larger one when it is full. For a large table the copying costs more than all other work, and briefly needs
// three times the memory.
//
// A place is the number of a block and an offset in it. Bytes that do not fit a block get their own.
type blocks struct {
	all  [][]byte
	last int // the block that is being filled; those after it are empty
	held int // bytes that were added
}

const (
	blockShift = 18
	blockBytes = 1 << blockShift
	firstBlock = 1 << 10 // the first block starts small, and doubles: most tables are small
)

// add copies p and returns its place. An empty p gets place 0. Otherwise its place could be the end of a full block, which is
// not valid.
func (b *blocks) add(p []byte) (place uint64) {
	if len(p) == 0 && len(b.all) > 0 {
		return 0
	}
	b.held += len(p)
	if b.last == len(b.all) || len(b.all[b.last])+len(p) > cap(b.all[b.last]) || len(b.all[b.last]) >= blockBytes {
		b.makeRoom(len(p))
	}
	block := &b.all[b.last]
	place = uint64(b.last)<<blockShift | uint64(len(*block))
	*block = append(*block, p...)
	return place
}

func (b *blocks) makeRoom(n int) {
	if len(b.all) == 0 {
		b.all = append(b.all, make([]byte, 0, max(firstBlock, n)))
		return
	}
	used := b.all[b.last]
	switch size := len(used) + n; {
	case len(used) == 0: // the block is too small, whether it is the first or was used before
		b.all[b.last] = make([]byte, 0, b.size(n))
		return
	case b.last == 0 && size <= blockBytes:
		b.all[0] = append(make([]byte, 0, min(blockBytes, max(size, 2*cap(used)))), used...)
		return
	}
	if b.last++; b.last == len(b.all) {
		b.all = append(b.all, nil)
	}
	if cap(b.all[b.last]) < n {
		b.all[b.last] = make([]byte, 0, b.size(n))
	}
}

func (b *blocks) size(n int) int {
	if b.last == 0 {
		return max(firstBlock, n)
	}
	return max(blockBytes, n)
}

// from returns the bytes of a block from a place on.
func (b *blocks) from(place uint64) []byte { return b.all[place>>blockShift][place%blockBytes:] }

// reset forgets everything, but keeps the used blocks for the next time.
func (b *blocks) reset() {
	b.held = 0
	if len(b.all) == 0 {
		return
	}
	clear(b.all[b.last+1:])
	b.all = b.all[:b.last+1]
	for i := range b.all {
		b.all[i] = b.all[i][:0]
	}
	b.last = 0
}

func (b *blocks) memory() int {
	n := 0
	for _, block := range b.all {
		n += cap(block)
	}
	return n
}
