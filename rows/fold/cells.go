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
	i := c.n >> cellShift
	if i == len(c.blocks) {
		c.blocks = append(c.blocks, nil)
		if i > 0 {
			c.blocks[i] = make([]T, 0, cellBlock)
		}
	}
	return &c.blocks[i]
}

// reset forgets everything, but keeps the used blocks for the next time.
func (c *cells[T]) reset() {
	used := (c.n + cellBlock - 1) >> cellShift
	clear(c.blocks[used:])
	c.blocks = c.blocks[:used]
	for i := range c.blocks {
		c.blocks[i] = c.blocks[i][:0]
	}
	c.n = 0
}

// room returns how many values the memory has room for.
func (c *cells[T]) room() (n int) {
	for _, block := range c.blocks {
		n += cap(block)
	}
	return n
}
