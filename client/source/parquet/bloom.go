package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"

	"posta.dev/posta/rows/columnar"
)

// A row group may have a Bloom filter for a column: bits by which values are told that are not in it. So a row group is left out if a
// condition is true only for certain values, and the filter has none of them.
//
// A filter is an aid like the page index (places.go): one that cannot be right, or has a form that is not known here, is ignored, and its
// bits are trusted like statistics. Only the block of 32 bytes is read in which a value would be, because a filter may have many MiB.
//
//	header   Thrift: bytes of bits, algorithm, hash, compression
//	bits     blocks of 8 words of 32 bits; a value has one bit in each word of one block
const (
	sizeOfBlock = 32
	bloomHead   = 64      // more than a header has
	maxBloom    = 1 << 27 // the most that the format allows
)

// bloomSalt has a factor for each word of a block, from the specification.
var bloomSalt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// askBloomFilters leaves out row groups whose filters say that they lack all values which may pass one of the tests.
func (c *Cutter) askBloomFilters(tests []columnar.Test) {
	for i := range tests {
		t := &tests[i]
		at := c.given[t.Column]
		if at < 0 || t.Only == nil {
			continue
		}
		hashes, ok := c.columns[at].hashes(t.Only, &t.Ask)
		if !ok {
			continue
		}
		for k := range c.groups {
			g := &c.groups[k]
			g.skip = g.skip || c.shared.file.lacks(g.metas[at].bloom, hashes)
		}
	}
}

// bloomAt returns where the blocks of a Bloom filter are, and how many; 0 if there is none that can be read.
func (f *file) bloomAt(e extent) (at int64, blocks uint64) {
	room := f.end - e.at
	if e.size > 0 {
		room = min(room, e.size)
	}
	if e.at < int64(len(Magic)) || room <= 0 {
		return 0, 0
	}
	head := make([]byte, min(bloomHead, room))
	if f.readAt(head, e.at, "a Bloom filter") != nil {
		return 0, 0 // whoever needs the column says what is wrong
	}
	t := &thrift{p: head}
	size, known := int64(0), 0
	t.structure(0, func(id int, kind byte) bool {
		switch {
		case id == 1:
			size = t.number(kind)
		case id >= 2 && id <= 4 && kind == thriftStruct: // each a union, of which only the first member is known
			t.structure(1, func(member int, _ byte) bool {
				if member == 1 {
					known++
				}
				return false
			})
		default:
			return false
		}
		return true
	})
	if t.err != nil || known != 3 || size <= 0 || size > maxBloom || size%sizeOfBlock != 0 || size > room-int64(t.i) ||
		e.size > 0 && e.size != size+int64(t.i) {
		return 0, 0
	}
	return e.at + int64(t.i), uint64(size / sizeOfBlock)
}

// lacks reports whether a row group has none of some values, by their hashes.
func (f *file) lacks(e extent, hashes []uint64) bool {
	if e.at == 0 {
		return false
	}
	at, blocks := f.bloomAt(e)
	if blocks == 0 {
		return false
	}
	var block [sizeOfBlock]byte
	for _, h := range hashes {
		high, _ := bits.Mul64(h>>32<<32, blocks)
		if f.readAt(block[:], at+int64(high)*sizeOfBlock, "a Bloom filter") != nil || inBlock(&block, uint32(h)) {
			return false
		}
	}
	return true
}

func inBlock(block *[sizeOfBlock]byte, hash uint32) bool {
	for i, salt := range bloomSalt {
		if binary.LittleEndian.Uint32(block[4*i:])>>(hash*salt>>27)&1 == 0 {
			return false
		}
	}
	return true
}

// hashes returns the hashes of those of some values that the column could have; ok is false if they are not known.
func (c *column) hashes(only *columnar.Only, ask *columnar.Ask) (all []uint64, ok bool) {
	if c.maxRep > 0 {
		return nil, false
	}
	if ask.Kind == 0 {
		return c.hashesOfTexts(only.Texts)
	}
	power, _, _, ok := ask.Numbers(c.travels)
	if !ok {
		return nil, false
	}
	for _, v := range only.Ints {
		switch {
		case c.kind == kindDouble:
			if f := math.Float64frombits(uint64(v)); f == 0 { // both zeros are equal
				all = append(all, hashOfInt(0, 8), hashOfInt(math.MinInt64, 8))
				continue
			}
			all = append(all, hashOfInt(v, 8))
		case v%power != 0: // the column has fewer digits behind the point
		case c.kind == kindInt32 || c.kind == kindInt64:
			if n, is := c.unconverted(v / power); is {
				all = append(all, hashOfInt(n, c.width))
			}
		case c.kind == kindFixed && c.travels != columnar.Float: // a decimal, the highest byte first
			p := make([]byte, max(8, c.width))
			binary.BigEndian.PutUint64(p[len(p)-8:], uint64(v/power))
			for i := range p[:len(p)-8] {
				p[i] = byte(v / power >> 63)
			}
			// A number that does not fit is cut: at worst, a row group is read that lacks it.
			all = append(all, hash64(p[len(p)-c.width:]))
		default:
			return nil, false
		}
	}
	return all, true
}

// unconverted returns the number in the file that travels as n; false if there is none.
func (c *column) unconverted(n int64) (int64, bool) {
	for _, from := range [...]int64{n, int64(int32(n)), n / 1000} { // as it is, without a sign, or in other units
		if c.width == 4 && from != int64(int32(from)) {
			continue
		}
		to := [1]int64{from}
		if (c.convert == nil || c.convert(to[:], to[:])) && to[0] == n {
			return from, true
		}
	}
	return 0, false
}

func (c *column) hashesOfTexts(texts []string) (all []uint64, ok bool) {
	logical, _, _ := c.element.meaning()
	uuid := c.kind == kindFixed && logical == logicalUUID
	if c.kind != kindBytes && c.kind != kindFixed || c.texts.bytes != nil && !uuid {
		return nil, false
	}
	for _, s := range texts {
		switch {
		case c.kind == kindBytes:
			all = append(all, hash64([]byte(s)))
		case !uuid && len(s) == c.width:
			all = append(all, hash64([]byte(s)))
		case uuid:
			var v [16]byte
			if len(s) == 36 {
				_, err := hex.Decode(v[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:]))
				if err == nil && string(appendUUID(nil, v[:])) == s {
					all = append(all, hash64(v[:]))
				}
			}
		}
	}
	return all, true
}

func hashOfInt(v int64, width int) uint64 {
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], uint64(v))
	return hash64(p[:width])
}

// The numbers of XXH64.
const (
	xxh1 = 0x9e3779b185ebca87
	xxh2 = 0xc2b2ae3d27d4eb4f
	xxh3 = 0x165667b19e3779f9
	xxh4 = 0x85ebca77c2b2ae63
	xxh5 = 0x27d4eb2f165667c5
)

// hash64 is XXH64 with seed 0.
func hash64(p []byte) uint64 {
	round := func(acc, v uint64) uint64 { return bits.RotateLeft64(acc+v*xxh2, 31) * xxh1 }
	h, n := uint64(xxh5), uint64(len(p))
	if len(p) >= 32 {
		one := uint64(xxh1)
		lanes := [4]uint64{one + xxh2, xxh2, 0, -one}
		for ; len(p) >= 32; p = p[32:] {
			for i := range lanes {
				lanes[i] = round(lanes[i], binary.LittleEndian.Uint64(p[8*i:]))
			}
		}
		h = 0
		for i, by := range [...]int{1, 7, 12, 18} {
			h += bits.RotateLeft64(lanes[i], by)
		}
		for _, l := range lanes {
			h = (h^round(0, l))*xxh1 + xxh4
		}
	}
	h += n
	for ; len(p) >= 8; p = p[8:] {
		h = bits.RotateLeft64(h^round(0, binary.LittleEndian.Uint64(p)), 27)*xxh1 + xxh4
	}
	if len(p) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(p))*xxh1, 23)*xxh2 + xxh3
		p = p[4:]
	}
	for _, b := range p {
		h = bits.RotateLeft64(h^uint64(b)*xxh5, 11) * xxh1
	}
	h = (h ^ h>>33) * xxh2
	h = (h ^ h>>29) * xxh3
	return h ^ h>>32
}
