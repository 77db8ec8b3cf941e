package csv

import (
	"encoding/binary"
	"math/bits"
)

// window is how much data is indexed at a time: little enough that the index stays in the first-level cache, and much more
// than a row, since a row that is cut by the window's end is looked at twice.
const window = 8 << 10

// commaIndex is where the separators of a window of data are. Rows without quotes are cut up by it.
//
// Finding separators and cutting fields are separate steps on purpose. A search per field is a call and a badly predicted
// branch per field. Here 64 bytes become one word with a bit per separator by arithmetic alone, and bits become positions
// eight at a time whether they are there or not; only a block with more than eight takes a branch.
// BenchmarkSplit compares the two.
type commaIndex struct {
	base, end int // the window is data[base:end]
	at        int // the first position that may belong to the next row
	n         int
	pos       [window + 64 + 1]uint16 // n positions relative to base, then beyond; 64 more so that blocks need no check
}

// beyond is larger than any position in a window.
const beyond = 1<<16 - 1

func (x *commaIndex) forget() {
	x.base, x.end, x.at, x.n = 0, 0, 0, 0
	x.pos[0] = beyond
}

// cover moves the window to start at from. It returns false if data[from:to] is longer than a window.
func (x *commaIndex) cover(data []byte, from, to int, comma byte) bool {
	if to-from > window {
		return false
	}
	x.base, x.end, x.at = from, min(from+window, len(data)), 0
	x.fill(data[x.base:x.end], comma)
	return true
}

// row returns the separators in the row data[from:to], which the window covers, and goes on behind them. Rows are given in
// order. usual is how many there are in most rows: when that is right, two comparisons find it out.
func (x *commaIndex) row(from, to, usual int) []uint16 {
	low, high := from-x.base, to-x.base
	i := x.at
	for int(x.pos[i]) < low { // rows with quotes, whose separators were not asked for
		i++
	}
	j := i + usual
	if usual < 1 || j > x.n || int(x.pos[j-1]) >= high || int(x.pos[j]) < high {
		for j = i; int(x.pos[j]) < high; {
			j++
		}
	}
	x.at = j
	return x.pos[i:j]
}

// fill indexes p, which is at most a window long.
func (x *commaIndex) fill(p []byte, comma byte) {
	pattern := uint64(comma) * ones
	n, base := 0, 0
	for ; len(p) >= 64; p, base = p[64:], base+64 {
		n = x.add(n, base, block(p, pattern))
	}
	if len(p) > 0 {
		var rest [64]byte // zeros are no separators: those beyond the data are cut off below even if they were
		copy(rest[:], p)
		n = x.add(n, base, block(rest[:], pattern)&(1<<uint(len(p))-1))
	}
	x.n = n
	x.pos[n] = beyond
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// block returns a word with a bit for each of the first 64 bytes of p that equals the byte repeated in pattern.
func block(p []byte, pattern uint64) uint64 {
	p = p[:64]
	return equal(binary.LittleEndian.Uint64(p), pattern) |
		equal(binary.LittleEndian.Uint64(p[8:]), pattern)<<8 |
		equal(binary.LittleEndian.Uint64(p[16:]), pattern)<<16 |
		equal(binary.LittleEndian.Uint64(p[24:]), pattern)<<24 |
		equal(binary.LittleEndian.Uint64(p[32:]), pattern)<<32 |
		equal(binary.LittleEndian.Uint64(p[40:]), pattern)<<40 |
		equal(binary.LittleEndian.Uint64(p[48:]), pattern)<<48 |
		equal(binary.LittleEndian.Uint64(p[56:]), pattern)<<56
}

// equal returns a bit for each byte of w that equals that of pattern. The test for zero bytes is the exact one, which carries
// nothing from one byte to the next (Warren, Hacker's Delight, 6–1); the product gathers the eight high bits in the top byte.
func equal(w, pattern uint64) uint64 {
	w ^= pattern
	w = ^((w&^highs + ^uint64(highs)) | w | ^uint64(highs))
	return (w >> 7) * 0x0102040810204080 >> 56
}

// add writes the positions of the bits of mask and returns how many positions there are now.
func (x *commaIndex) add(n, base int, mask uint64) int {
	count := bits.OnesCount64(mask)
	out := (*[8]uint16)(x.pos[n:])
	for i := range out {
		out[i] = uint16(base + bits.TrailingZeros64(mask))
		mask &= mask - 1
	}
	for i := 8; mask != 0; i++ {
		x.pos[n+i] = uint16(base + bits.TrailingZeros64(mask))
		mask &= mask - 1
	}
	return n + count
}
