package csv

import (
	"encoding/binary"
	"math/bits"
)

// window is how much data is indexed at a time: little enough that the index stays in the first-level cache, and much more
// than a row, since a row that is cut by the window's end is looked at twice. It is a multiple of 64.
const window = 16 << 10

// index is where separators and line feeds of a window of data are, those outside of quoted fields. Rows are cut up by it.
//
// Finding separators and cutting fields are separate steps on purpose. A search per field is a call and a badly predicted
// branch per field. Here 64 bytes become words with a bit per separator and per line feed by arithmetic alone, and bits
// become positions eight at a time whether they are there or not; only a block with more than eight takes a branch.
// (The idea is that of Langdale and Lemire's simdjson.) BenchmarkIndex has the ways to do it side by side.
type index struct {
	base, end int // the window is data[base:end]
	at        int // the first position that may belong to the next row
	n         int
	sound     bool                    // no quote is where it should not be: else lines and pos are worth nothing
	quoted    bool                    // there are quotes
	pos       [window + 64 + 1]uint16 // n separators, relative to base, then beyond; 64 more so that blocks need no check
	lines     [window / 64]uint64     // a bit for each line feed
}

// beyond is larger than any position in a window.
const beyond = 1<<16 - 1

func (x *index) forget() {
	x.base, x.end, x.at, x.n = 0, 0, 0, 0
	x.pos[0] = beyond
}

// cover moves the window to start at from, where a record starts.
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

// row returns the separators in the row that ends at to, and moves past them. It must be called for the rows in order, without
// omitting one that has separators. usual is the number of separators in most rows: if it is right, two comparisons confirm it.
func (x *index) row(to, usual int) []uint16 {
	high := to - x.base
	i := x.at
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
	q := quotes{before: 1}
	whole := len(p) &^ 63
	x.n = indexBlocks(x.pos[:], x.lines[:], p[:whole], 0, comma, &q)
	if rest := p[whole:]; len(rest) > 0 {
		block, feeds := padded(rest), x.lines[whole/64:]
		x.n += indexBlocks(x.pos[x.n:], feeds, block[:], whole, comma, &q)
		feeds[0] &= 1<<uint(len(rest)) - 1
	}
	x.pos[x.n] = beyond
	x.sound, x.quoted = q.broken == 0, q.seen != 0
}

// indexPortable indexes the blocks of p, the first of which is offset bytes behind the start of the window: the positions of
// separators go to pos, which has room for up to eight more than there are, a word of line feeds for each block to lines. It returns
// the number of separators.
func indexPortable(pos []uint16, lines []uint64, p []byte, offset int, comma byte, q *quotes) (n int) {
	pattern := uint64(comma) * ones
	for i := 0; len(p) >= 64; i++ {
		var commas uint64
		commas, lines[i] = q.follow(p, equal64(p, pattern), equal64(p, '\n'*ones), equal64(p, quote*ones))
		n = addPositions(pos, n, offset+64*i, commas)
		p = p[64:]
	}
	return n
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

// addPositions writes the positions of the bits of mask behind the first n and returns how many there are then.
func addPositions(pos []uint16, n, base int, mask uint64) int {
	count := bits.OnesCount64(mask)
	out := (*[8]uint16)(pos[n:])
	for i := range out {
		out[i] = uint16(base + bits.TrailingZeros64(mask))
		mask &= mask - 1
	}
	for i := 8; mask != 0; i++ {
		pos[n+i] = uint16(base + bits.TrailingZeros64(mask))
		mask &= mask - 1
	}
	return n + count
}
