package coverage

// The checksum of two byte strings, one after the other, follows from their checksums and the length of the second: crc(a b) = crc(a)
// x^(8·len b) + crc(b). These are polynomials modulo the polynomial of CRC32C, with bits reversed. (Mark Adler's crc32_combine in zlib does
// the same for another polynomial.)

// castagnoli is the polynomial, bits reversed.
const castagnoli = 0x82f63b78

// one is x^0: bits are reversed.
const one = uint32(1) << 31

// squares has x^(2^n) at n.
var squares = func() (s [67]uint32) {
	s[0] = one >> 1
	for n := range s[1:] {
		s[n+1] = times(s[n], s[n])
	}
	return s
}()

// times multiplies two polynomials.
func times(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&one != 0 {
			product ^= b
		}
		odd := b & 1
		b >>= 1
		if odd != 0 {
			b ^= castagnoli
		}
	}
	return product
}

// combine returns the CRC32C of bytes with the checksum a, followed by size bytes with the checksum b.
func combine(a, b uint32, size uint64) uint32 {
	shift := one
	for n := 3; size > 0; n, size = n+1, size>>1 { // 2^3 bits are a byte
		if size&1 != 0 {
			shift = times(squares[n], shift)
		}
	}
	return times(shift, a) ^ b
}
