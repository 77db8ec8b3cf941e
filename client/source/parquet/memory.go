package parquet

import "fmt"

// MaxMemory is how many bytes the pages, dictionaries and the footer of a file may take at once.
const MaxMemory = 256 << 20

// maxPage is how many bytes a page may have when it is unpacked.
const maxPage = 64 << 20

// budget counts the bytes of memory in use, against their limit.
type budget struct {
	used, limit int
	full        bool // it did not suffice
}

// grow returns n bytes, in the memory of p if that is large enough. Their content is undefined. New memory is a little larger, because the
// next page often is, as long as half of the budget is left.
func (b *budget) grow(p []byte, n int) ([]byte, error) {
	if n <= cap(p) {
		return p[:n], nil
	}
	size := n + n/8
	if size > b.limit/2-b.used {
		size = n
	}
	if err := b.charge(size - cap(p)); err != nil {
		return nil, err
	}
	return make([]byte, n, size), nil
}

// charge counts n bytes as used, or fails if the limit is reached.
func (b *budget) charge(n int) error {
	if n > b.limit-b.used {
		b.full = true
		return fmt.Errorf("%w: the pages of the columns that are needed take more than %d MiB of memory at once; read fewer columns, or write "+
			"it with smaller row groups or pages",
			ErrUnread, b.limit>>20)
	}
	b.used += n
	return nil
}
