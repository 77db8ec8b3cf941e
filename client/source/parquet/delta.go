package parquet

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errFew = errors.New("it has fewer values than it says")

// hybrid reads the RLE/bit-packing hybrid encoding: runs of small numbers that are packed into width bits each, or repeated.
type hybrid struct {
	p      []byte
	width  uint
	run    int // how often value is still repeated
	value  uint32
	packed []byte // the packed numbers that are not in acc yet
	left   int    // how many packed numbers are left
	acc    uint64
	have   uint // bits in acc
}

// newHybrid returns a reader of numbers from 0 to most.
func newHybrid(p []byte, most int) hybrid { return hybrid{p: p, width: uint(bits.Len(uint(most)))} }

func (h *hybrid) next() (uint32, error) {
	for {
		switch {
		case h.run > 0:
			h.run--
			return h.value, nil
		case h.left > 0:
			h.left--
			if h.have < h.width && !h.load() {
				return 0, errFew
			}
			v := uint32(h.acc & (1<<h.width - 1))
			h.acc >>= h.width
			h.have -= h.width
			return v, nil
		case !h.begin():
			return 0, errFew
		}
	}
}

// fill reads as many numbers as out has room for.
func (h *hybrid) fill(out []uint32) error {
	for len(out) > 0 {
		n := min(h.run, len(out))
		for i := range n {
			out[i] = h.value
		}
		h.run, out = h.run-n, out[n:]
		n = min(h.left, len(out))
		mask := uint64(1)<<h.width - 1
		for i := range n {
			if h.have < h.width && !h.load() {
				return errFew
			}
			out[i] = uint32(h.acc & mask)
			h.acc >>= h.width
			h.have -= h.width
		}
		h.left, out = h.left-n, out[n:]
		if len(out) > 0 && !h.begin() {
			return errFew
		}
	}
	return nil
}

// load reads bits into acc until it has a whole number.
func (h *hybrid) load() bool {
	if len(h.packed) >= 4 {
		h.acc |= uint64(binary.LittleEndian.Uint32(h.packed)) << h.have
		h.packed, h.have = h.packed[4:], h.have+32
		return true
	}
	for h.have < h.width {
		if len(h.packed) == 0 {
			return false
		}
		h.acc |= uint64(h.packed[0]) << h.have
		h.packed, h.have = h.packed[1:], h.have+8
	}
	return true
}

// begin reads the head of a run.
func (h *hybrid) begin() bool {
	head, n := binary.Uvarint(h.p)
	if n <= 0 || head>>1 > 1<<31 {
		return false
	}
	h.p = h.p[n:]
	if head&1 == 0 {
		h.run, h.value = int(head>>1), 0
		n := int(h.width+7) / 8
		if n > len(h.p) {
			return false
		}
		for i := range n {
			h.value |= uint32(h.p[i]) << (8 * i)
		}
		h.p = h.p[n:]
		return true
	}
	h.left = int(head>>1) * 8
	size := min(int(head>>1)*int(h.width), len(h.p))
	h.packed, h.p = h.p[:size], h.p[size:]
	h.acc, h.have = 0, 0
	return true
}

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
	bit     int    // position of the next number in p, in bits
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

func (d *delta) next() (int64, error) {
	if d.left == 0 {
		return 0, errFew
	}
	d.left--
	if !d.begun {
		d.begun = true
		return d.value, nil
	}
	if d.inBlock == 0 && !d.block() {
		return 0, errFew
	}
	d.inBlock--
	v, ok := d.bits()
	if !ok {
		return 0, errFew
	}
	d.value += d.least + int64(v)
	return d.value, nil
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
	d.bit, d.inBlock = 8*d.i, d.per
	d.i = min(d.i+d.per/8*int(d.width), len(d.p)) // the last one may be cut short
	return d.width <= 64
}

func (d *delta) bits() (uint64, bool) {
	from, shift := d.bit/8, uint(d.bit%8)
	d.bit += int(d.width)
	if (d.bit+7)/8 > len(d.p) {
		return 0, false
	}
	var v uint64
	if len(d.p)-from >= 8 {
		v = binary.LittleEndian.Uint64(d.p[from:]) >> shift
	} else {
		for i, b := range d.p[from:] {
			v |= uint64(b) << (8 * i)
		}
		v >>= shift
	}
	if shift+d.width > 64 {
		v |= uint64(d.p[from+8]) << (64 - shift)
	}
	if d.width < 64 {
		v &= 1<<d.width - 1
	}
	return v, true
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
