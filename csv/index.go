package csv

import (
	"encoding/binary"
	"math/bits"
)

// window is how much data is indexed at a time: little enough that the index stays in the first-level cache, and much more
// than a row, since a row that is cut by the window's end is looked at twice. It is a multiple of 64.
const window = 8 << 10

// index is where separators and line feeds of a window of data are. Rows without quotes are cut up by it.
//
// Finding separators and cutting fields are separate steps on purpose. A search per field is a call and a badly predicted
// branch per field. Here 64 bytes become words with a bit per separator and per line feed by arithmetic alone, and bits
// become positions eight at a time whether they are there or not; only a block with more than eight takes a branch.
// (The idea is that of Langdale and Lemire's simdjson.) BenchmarkIndex has the ways to do it side by side.
type index struct {
	base, end int // the window is data[base:end]
	at        int // the first position that may belong to the next row
	n         int
	pos       [window + 64 + 1]uint16 // n separators, relative to base, then beyond; 64 more so that blocks need no check
	lines     [window / 64]uint64     // a bit for each line feed
}

// beyond is larger than any position in a window.
const beyond = 1<<16 - 1

func (x *index) forget() {
	x.base, x.end, x.at, x.n = 0, 0, 0, 0
	x.pos[0] = beyond
}

// cover moves the window to start at from.
func (x *index) cover(data []byte, from int, comma byte) {
	x.base, x.end, x.at = from, min(from+window, len(data)), 0
	x.fill(data[x.base:x.end], comma)
}

// lineFeed returns where the first line feed at or after at is, -1 if there is none in the window. at is not before it.
func (x *index) lineFeed(at int) int {
	rel := uint(at - x.base)
	if at >= x.end {
		return -1
	}
	block := rel / 64
	mask := x.lines[block%uint(len(x.lines))] >> (rel % 64) << (rel % 64)
	for last := uint(x.end-x.base-1) / 64; mask == 0; {
		if block++; block > last {
			return -1
		}
		mask = x.lines[block%uint(len(x.lines))]
	}
	return x.base + int(block*64) + bits.TrailingZeros64(mask)
}

// row returns the separators in the row data[from:to], which the window covers, and goes on behind them. Rows are given in
// order. usual is how many there are in most rows: when that is right, two comparisons find it out.
func (x *index) row(from, to, usual int) []uint16 {
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
func (x *index) fill(p []byte, comma byte) {
	whole := len(p) / 64
	x.fillBlocks(p[:64*whole], comma)
	if rest := p[64*whole:]; len(rest) > 0 {
		var block [64]byte
		copy(block[:], rest)
		there := uint64(1)<<uint(len(rest)) - 1 // the separator may be the zero byte that the block is filled up with
		x.lines[whole] = equal64(block[:], '\n'*ones)
		x.n = x.add(x.n, 64*whole, equal64(block[:], uint64(comma)*ones)&there)
	}
	x.pos[x.n] = beyond
}

// fillPortable is fillBlocks on any machine.
func (x *index) fillPortable(p []byte, comma byte) {
	n, base, pattern := 0, 0, uint64(comma)*ones
	for ; len(p) >= 64; p = p[64:] {
		x.lines[base/64] = equal64(p, '\n'*ones)
		n = x.add(n, base, equal64(p, pattern))
		base += 64
	}
	x.n = n
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// equal64 returns a word with a bit for each of the first 64 bytes of p that equals the byte repeated in pattern.
func equal64(p []byte, pattern uint64) uint64 {
	p = p[:64]
	return equal8(binary.LittleEndian.Uint64(p), pattern) |
		equal8(binary.LittleEndian.Uint64(p[8:]), pattern)<<8 |
		equal8(binary.LittleEndian.Uint64(p[16:]), pattern)<<16 |
		equal8(binary.LittleEndian.Uint64(p[24:]), pattern)<<24 |
		equal8(binary.LittleEndian.Uint64(p[32:]), pattern)<<32 |
		equal8(binary.LittleEndian.Uint64(p[40:]), pattern)<<40 |
		equal8(binary.LittleEndian.Uint64(p[48:]), pattern)<<48 |
		equal8(binary.LittleEndian.Uint64(p[56:]), pattern)<<56
}

// equal8 returns a bit for each byte of w that equals that of pattern. The test for zero bytes is the exact one, which
// carries nothing from one byte to the next (Warren, Hacker's Delight, 6-1); the product gathers the eight high bits in the
// top byte.
func equal8(w, pattern uint64) uint64 {
	w ^= pattern
	w = ^((w&^highs + ^uint64(highs)) | w | ^uint64(highs))
	return (w >> 7) * 0x0102040810204080 >> 56
}

// add writes the positions of the bits of mask and returns how many positions there are now.
func (x *index) add(n, base int, mask uint64) int {
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
