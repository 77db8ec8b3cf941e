package csv

import (
	"encoding/binary"
	"math/bits"
)

// window is how much data is indexed at a time. It is small, so that the index stays in the first-level cache, but much
// larger than a row, because a row that the window's end cuts is indexed twice. It is a multiple of 64.
const window = 16 << 10

// index has the positions of separators and line feeds outside of quoted fields in a window of data. Rows are cut with it.
//
// Finding separators and cutting fields are separate steps on purpose. A search per field is a call and a badly predicted
// branch per field. Here arithmetic alone turns 64 bytes into words with a bit per separator and per line feed. Bits become
// positions eight at a time, whether all eight exist or not, so only a block with more than eight takes a branch. (The idea
// is from Langdale and Lemire's simdjson.) BenchmarkIndex compares the ways to do this.
type index struct {
	base, end int // the window is data[base:end]
	at        int // the first position that may belong to the next row
	n         int
	sound     bool                    // no quote is in a wrong place; otherwise lines and pos have no meaning
	quoted    bool                    // the window has quotes
	manyLines bool                    // its quoted fields have more than mostLines line feeds in all
	pos       [window + 64 + 1]uint16 // n separators, relative to base, then beyond; 64 more, so that blocks need no check
	lines     [window / 64]uint64     // a bit for each line feed
}

// beyond is greater than any position in a window.
const beyond = 1<<16 - 1

func (x *index) forget() {
	x.base, x.end, x.at, x.n = 0, 0, 0, 0
	x.pos[0] = beyond
}

// cover moves the window so that it starts at from, which is a record's start.
func (x *index) cover(data []byte, from int, comma byte) {
	x.base, x.end, x.at = from, min(from+window, len(data)), 0
	x.fill(data[x.base:x.end], comma)
}

// lineFeed returns the first line feed at or after at, -1 if the window has none. at must not be before the window.
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

// row returns the separators in the row that ends at to, and moves past them. It must be called for the rows in order; only
// rows without separators may be left out. usual is the number of separators in most rows: if it is right, two comparisons
// confirm it.
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

// fill indexes p, which has at most the length of a window.
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
	x.manyLines = x.quoted && x.sound && x.within(p) >= mostLines
}

// within returns how many line feeds of the window p are within quotes. It takes a fiftieth of the time of fill, and only where there are
// quotes.
func (x *index) within(p []byte) int {
	outside := 0
	for _, feeds := range x.lines[:(len(p)+63)/64] {
		outside += bits.OnesCount64(feeds)
	}
	return int(linesIn(p)) - outside
}

// indexPortable indexes the blocks of p. The first block is offset bytes after the start of the window. It writes the positions of
// separators to pos, which must have room for eight more than there are, and a word of line feeds for each block to lines. It
// returns the number of separators.
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

// equal64 compares the first 64 bytes of p with the byte repeated in pattern. It returns a word with a bit for each equal
// byte.
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

// equal8 returns a bit for each byte of w that equals the one of pattern. The test for zero bytes is the exact one, which
// carries nothing from one byte to the next (Warren, Hacker's Delight, 6-1). The product gathers the eight high bits in the
// top byte.
func equal8(w, pattern uint64) uint64 {
	w ^= pattern
	w = ^((w&^highs + ^uint64(highs)) | w | ^uint64(highs))
	return (w >> 7) * 0x0102040810204080 >> 56
}

// addPositions appends the positions of the bits of mask to the first n, and returns the new number.
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
