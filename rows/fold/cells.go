package fold

// cells is a sequence of values that grows block by block, for the same reasons as blocks. Rejected: an array that is copied
// to a larger one when it is full would leave garbage of four times the final size of a large table.
type cells[T any] struct {
	blocks [][]T // all used blocks but the last are full; those after it are empty
	n      int
}

const (
	cellShift = 12
	cellBlock = 1 << cellShift // values in a block; the first one grows up to it
)

func (c *cells[T]) at(i int) *T { return &c.blocks[i>>cellShift][i%cellBlock] }

// add adds n times v.
func (c *cells[T]) add(v T, n int) {
	for n > 0 {
		block := c.open()
		k := min(n, cellBlock-len(*block))
		for range k {
			*block = append(*block, v)
		}
		c.n += k
		n -= k
	}
}

// push is add of one.
func (c *cells[T]) push(v T) {
	block := c.open()
	*block = append(*block, v)
	c.n++
}

// open returns the block to which the next value is added.
func (c *cells[T]) open() *[]T {
	return openBlock(&c.blocks, c.n>>cellShift, cellBlock)
}

// openBlock returns block i of a sequence of blocks, all of which but the first are made with the given size. The first one grows up to it,
// because most tables are small.
func openBlock[T any](blocks *[][]T, i, size int) *[]T {
	if i == len(*blocks) {
		*blocks = append(*blocks, nil)
		if i > 0 {
			(*blocks)[i] = make([]T, 0, size)
		}
	}
	return &(*blocks)[i]
}

// emptied returns blocks without their contents. The used ones keep their memory for the next time.
func emptied[T any](blocks [][]T, used int) [][]T {
	clear(blocks[used:])
	blocks = blocks[:used]
	for i := range blocks {
		blocks[i] = blocks[i][:0]
	}
	return blocks
}

// reset forgets everything, but keeps the used blocks for the next time.
func (c *cells[T]) reset() {
	c.blocks, c.n = emptied(c.blocks, (c.n+cellBlock-1)>>cellShift), 0
}

// room returns how many values the memory has room for.
func (c *cells[T]) room() (n int) {
	for _, block := range c.blocks {
		n += cap(block)
	}
	return n
}
