package parquet

import (
	"encoding/binary"
	"math/bits"
)

// hybrid reads the RLE/bit-packing hybrid encoding: runs of small numbers that are packed into width bits each, or repeated.
type hybrid struct {
	p      []byte
	width  uint
	run    int // how often value is still repeated
	value  uint32
	packed []byte // packed numbers
	at     int    // index of the next one
	left   int    // how many of them are left
}

// newHybrid returns a reader of numbers from 0 to most.
func newHybrid(p []byte, most int) hybrid { return hybrid{p: p, width: uint(bits.Len(uint(most)))} }

func (h *hybrid) next() (uint32, error) {
	var one [1]uint32
	err := h.fill(one[:])
	return one[0], err
}

// fill reads as many numbers as out has room for.
func (h *hybrid) fill(out []uint32) error {
	for len(out) > 0 {
		n := min(h.run, len(out))
		for i := range out[:n] {
			out[i] = h.value
		}
		h.run, out = h.run-n, out[n:]
		if n = min(h.left, len(out)); n > 0 {
			if !h.has(n) {
				return errFew
			}
			unpack(out[:n], h.packed, h.at, h.width)
			h.at, h.left, out = h.at+n, h.left-n, out[n:]
		}
		if len(out) > 0 && !h.begin() {
			return errFew
		}
	}
	return nil
}

// skip passes over n numbers.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		k := min(h.run, n)
		h.run, n = h.run-k, n-k
		k = min(h.left, n)
		if !h.has(k) {
			return errFew
		}
		h.at, h.left, n = h.at+k, h.left-k, n-k
		if n > 0 && !h.begin() {
			return errFew
		}
	}
	return nil
}

// equal sets the bit of each of the next n numbers that is most, and returns how many are. Numbers above most are an error. dst has a bit
// for each number.
func (h *hybrid) equal(dst []uint64, n int, most uint32) (count int, err error) {
	clear(dst)
	for i := 0; i < n; {
		if k := min(h.run, n-i); k > 0 {
			if h.value > most {
				return 0, errLevels
			}
			if h.value == most {
				setBits(dst, i, k)
			}
			h.run, i = h.run-k, i+k
			continue
		}
		k := min(h.left, n-i, 64)
		switch {
		case k == 0:
			if !h.begin() {
				return 0, errLevels
			}
			continue
		case !h.has(k):
			return 0, errLevels
		case h.width == 1 && most == 1:
			putBits(dst, i, bitsAt(h.packed, h.at, uint(k)))
		default:
			var levels [64]uint32
			unpack(levels[:k], h.packed, h.at, h.width)
			word := uint64(0)
			for j, v := range levels[:k] {
				if v > most {
					return 0, errLevels
				}
				if v == most {
					word |= 1 << j
				}
			}
			putBits(dst, i, word)
		}
		h.at, h.left, i = h.at+k, h.left-k, i+k
	}
	for _, word := range dst {
		count += bits.OnesCount64(word)
	}
	return count, nil
}

// putBits ors the bits of word to those of dst from a bit on.
func putBits(dst []uint64, from int, word uint64) {
	dst[from/64] |= word << (from % 64)
	if high := word >> 1 >> (63 - from%64); high != 0 {
		dst[from/64+1] |= high
	}
}

// setBits sets n bits of dst from a bit on.
func setBits(dst []uint64, from, n int) {
	for ; n > 0 && from%64 != 0; from, n = from+1, n-1 {
		dst[from/64] |= 1 << (from % 64)
	}
	for ; n >= 64; from, n = from+64, n-64 {
		dst[from/64] = ^uint64(0)
	}
	if n > 0 {
		dst[from/64] |= 1<<n - 1
	}
}

// has reports whether the next n of the packed numbers are there. The last run of a page may be cut short.
func (h *hybrid) has(n int) bool { return (h.at+n)*int(h.width) <= 8*len(h.packed) }

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
	h.left, h.at = int(head>>1)*8, 0
	size := min(int(head>>1)*int(h.width), len(h.p))
	h.packed, h.p = h.p[:size], h.p[size:]
	return true
}
