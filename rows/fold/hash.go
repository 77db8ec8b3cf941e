package fold

import (
	"encoding/binary"
	"math/bits"
)

// The hash of key bytes decides which aggregator holds a key, so it is part of the protocol: it is the same in every process,
// version and architecture, and TestHashIsPinned pins it. Rejected: hash/maphash, which is seeded per process. Crafted keys
// that collide only slow down the tables of their own session.
//
// It folds 16 bytes at a time by the 128-bit product of two words, the idea of wyhash. The last 1 to 16 bytes are read as two
// words that may overlap. The constants are the fractional digits of √2, √3, √5 in hexadecimal, made odd.
const (
	hash0 = 0x6a09e667f3bcc909
	hash1 = 0xbb67ae8584caa73b
	hash2 = 0x3c6ef372fe94f82b
)

// Hash returns the hash of key bytes, as [Table.Partition] uses it.
func Hash(p []byte) uint64 {
	h := uint64(len(p)) * hash0
	for len(p) > 16 {
		h = mix(binary.LittleEndian.Uint64(p)^hash1, binary.LittleEndian.Uint64(p[8:])^hash2^h)
		p = p[16:]
	}
	a, b := lastWords(p)
	return mix(mix(a^hash1, b^hash2^h), hash0)
}

// lastWords reads 0 to 16 bytes as two words. For a given length, the words determine the bytes.
func lastWords(p []byte) (a, b uint64) {
	n := len(p)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[n-8:])
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[n-4:]))
	case n > 0:
		return uint64(p[0]) | uint64(p[n/2])<<8, uint64(p[n-1])
	}
	return 0, 0
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
