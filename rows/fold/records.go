package fold

// records is a sequence of records of one length, which grows block by block as cells does: keys that all have the same length, or the sums
// of a row. The place of a record follows from its number, so no memory is read to find it, and what belongs to a row is together in a line
// of the cache or two.
type records[T any] struct {
	width  int   // of a record; 0: there are none
	blocks [][]T // of cellBlock records, the first one of fewer at first
	n      int
}

func (r *records[T]) at(i int) []T {
	at := i % cellBlock * r.width
	return r.blocks[i>>cellShift][at : at+r.width : at+r.width]
}

// from returns the items of a record from a place on, and what follows them.
func (r *records[T]) from(i, place int) []T {
	return r.blocks[i>>cellShift][i%cellBlock*r.width+place:]
}

// push adds a record, and copies it.
func (r *records[T]) push(record []T) {
	if r.width > 0 {
		copy(r.room(1)[0:r.width], record)
		r.n++
	}
}

// pushAll adds records that lie end to end, and copies them.
func (r *records[T]) pushAll(list []T) {
	for n := len(list) / r.width; n > 0; {
		k := min(n, cellBlock-r.n%cellBlock)
		list = list[copy(r.room(k), list[:k*r.width]):]
		r.n += k
		n -= k
	}
}

// add adds n records of zeros.
func (r *records[T]) add(n int) {
	for n > 0 && r.width > 0 {
		k := min(n, cellBlock-r.n%cellBlock)
		clear(r.room(k))
		r.n += k
		n -= k
	}
}

// room returns the place for the next n records, which must be in one block.
func (r *records[T]) room(n int) []T {
	i, used := r.n>>cellShift, r.n%cellBlock*r.width
	if i == len(r.blocks) {
		r.blocks = append(r.blocks, nil)
	}
	end := used + n*r.width
	if end > len(r.blocks[i]) {
		size := cellBlock * r.width
		if i == 0 { // most tables are small
			size = min(size, max(2*len(r.blocks[0]), end))
		}
		block := make([]T, size)
		copy(block, r.blocks[i][:used])
		r.blocks[i] = block
	}
	return r.blocks[i][used:end]
}

// reset forgets everything, but keeps the used blocks for the next time.
func (r *records[T]) reset() {
	used := (r.n + cellBlock - 1) >> cellShift
	clear(r.blocks[used:])
	r.blocks, r.n = r.blocks[:used], 0
}

// items returns how many items the memory has room for.
func (r *records[T]) items() (n int) {
	for _, block := range r.blocks {
		n += len(block)
	}
	return n
}
