package parquet

import (
	"encoding/binary"
	"errors"
)

var errFew = errors.New("it has fewer values than it says")

// delta reads numbers that are stored as differences (DELTA_BINARY_PACKED). A block consists of small blocks, which the format calls
// miniblocks.
type delta struct {
	p       []byte
	i       int
	per     int // numbers in a small block
	blocks  int // small blocks in a block
	left    int // numbers
	begun   bool
	value   int64
	least   int64
	widths  []byte // of the small blocks to come
	inBlock int    // how many numbers the small block has left
	packed  []byte // the small block, and what follows it
	width   uint
}

func newDelta(p []byte) (delta, error) {
	d := delta{p: p}
	block, ok1 := d.uvarint()
	blocks, ok2 := d.uvarint()
	count, ok3 := d.uvarint()
	first, ok4 := d.uvarint()
	if !ok1 || !ok2 || !ok3 || !ok4 || blocks == 0 || block > 1<<20 || blocks > block || block/blocks%8 != 0 || block%blocks != 0 ||
		count > 1<<31 {
		return d, errors.New("it has differences whose head is wrong")
	}
	d.per, d.blocks, d.left, d.value = int(block/blocks), int(blocks), int(count), int64(first>>1)^-int64(first&1)
	return d, nil
}

func (d *delta) uvarint() (uint64, bool) {
	v, n := binary.Uvarint(d.p[d.i:])
	if n <= 0 {
		return 0, false
	}
	d.i += n
	return v, true
}

// ints reads as many numbers as out has room for.
func (d *delta) ints(out []int64) error {
	if len(out) > d.left {
		return errFew
	}
	d.left -= len(out)
	if !d.begun && len(out) > 0 {
		d.begun = true
		out[0] = d.value
		out = out[1:]
	}
	for len(out) > 0 {
		if d.inBlock == 0 && !d.block() {
			return errFew
		}
		n := min(d.inBlock, len(out))
		first := d.per - d.inBlock
		if (first+n)*int(d.width) > 8*len(d.packed) { // the last small block may be cut short, after its last number
			return errFew
		}
		some := out[:n]
		unpack(some, d.packed, first, d.width)
		value, least := d.value, d.least
		for i, difference := range some {
			value += least + difference
			some[i] = value
		}
		d.value, d.inBlock, out = value, d.inBlock-n, out[n:]
	}
	return nil
}

// block begins a small block.
func (d *delta) block() bool {
	if len(d.widths) == 0 {
		least, ok := d.uvarint()
		if !ok || d.blocks > len(d.p)-d.i {
			return false
		}
		d.least = int64(least>>1) ^ -int64(least&1)
		d.widths = d.p[d.i : d.i+d.blocks]
		d.i += d.blocks
	}
	d.width, d.widths = uint(d.widths[0]), d.widths[1:]
	d.packed, d.inBlock = d.p[d.i:], d.per
	d.i = min(d.i+d.per/8*int(d.width), len(d.p))
	return d.width <= 64
}

// end returns the index in p after the last number.
func (d *delta) end() (int, error) {
	rest := *d
	for left := rest.left - 1; left > 0; left -= rest.per {
		if !rest.block() {
			return 0, errFew
		}
	}
	return rest.i, nil
}

// ahead reads lengths that are stored as differences. They can be looked at before they are taken.
type ahead struct {
	d        delta
	buf      [takeRows]int64
	from, to int // those that were read and not taken
}

// look returns the next n lengths, at most takeRows, or all that are left if they are fewer. The caller checks them.
func (a *ahead) look(n int) ([]int64, error) {
	if a.to-a.from < n {
		a.to = copy(a.buf[:], a.buf[a.from:a.to])
		a.from = 0
		more := min(a.d.left, len(a.buf)-a.to)
		if err := a.d.ints(a.buf[a.to : a.to+more]); err != nil {
			return nil, err
		}
		a.to += more
	}
	return a.buf[a.from:min(a.from+n, a.to)], nil
}

// take is look for lengths that are taken. It fails if there are fewer.
func (a *ahead) take(n int) ([]int64, error) {
	some, err := a.look(n)
	if err == nil && len(some) < n {
		err = errFew
	}
	a.from += len(some)
	return some, err
}
