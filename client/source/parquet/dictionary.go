package parquet

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// dictionary finds the different values of a column.
type dictionary struct {
	codes  map[string]uint32
	values []byte   // plain, in the order of their codes
	of     []uint32 // the code of each value
	width  int      // of a code in bits
}

// mostDictionary bounds the bytes of a dictionary. Readers unpack one whole, and it is only useful while it fits into a cache.
const mostDictionary = 1 << 20

// encode finds the codes of the values that a column has gathered, and reports whether they take half the bytes or less.
func (d *dictionary) encode(c *gathered) bool {
	if c.kind == kindBool || len(c.data) == 0 {
		return false
	}
	d.codes, d.values, d.of = make(map[string]uint32, len(d.codes)), d.values[:0], d.of[:0]
	var before []byte
	code := uint32(0)
	for rest := c.data; len(rest) > 0; {
		size := 8
		switch c.kind {
		case kindInt32:
			size = 4
		case kindBytes:
			size = 4 + int(binary.LittleEndian.Uint32(rest))
		}
		v := rest[:size]
		if rest = rest[size:]; !bytes.Equal(v, before) {
			known := false
			if code, known = d.codes[string(v)]; !known {
				code = uint32(len(d.codes))
				d.codes[string(v)] = code
				if d.values = append(d.values, v...); len(d.values) > min(mostDictionary, len(c.data)/2) {
					return false
				}
			}
			before = v
		}
		d.of = append(d.of, code)
	}
	d.width = max(1, bits.Len(uint(max(1, len(d.codes))-1)))
	return len(d.values)+len(d.of)*d.width/8 <= len(c.data)/2
}

// appendHybrid appends numbers of a width in bits: runs of eight or more as number and length, and others in packs of eight.
func appendHybrid(b []byte, all []uint32, width int) []byte {
	run := func(i int) int {
		n := i
		for n < len(all) && all[n] == all[i] {
			n++
		}
		return n - i
	}
	for i := 0; i < len(all); {
		if n := run(i); n >= 8 {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for shift := 0; shift < width; shift += 8 {
				b = append(b, byte(all[i]>>shift))
			}
			i += n
			continue
		}
		begin := i
		for i < len(all) && run(i) < 8 {
			i += 8
		}
		b = binary.AppendUvarint(b, uint64(i-begin)/8<<1|1)
		word, have := uint64(0), 0
		for k := begin; k < i; k++ {
			if k < len(all) {
				word |= uint64(all[k]) << have
			}
			for have += width; have >= 8; have -= 8 {
				b = append(b, byte(word))
				word >>= 8
			}
		}
	}
	return b
}
