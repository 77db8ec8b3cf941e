package parquet

import "encoding/binary"

// unpack reads numbers of width bits that are packed end to end, the lowest bits first, into out. first is the index of the first wanted
// one, and p has all that are wanted. Eight numbers begin at a whole byte, and with few bits several of them are in one load of eight
// bytes.
func unpack[T uint32 | int64](out []T, p []byte, first int, width uint) {
	if width == 0 {
		clear(out)
		return
	}
	for ; len(out) > 0 && first%8 != 0; first++ {
		out[0] = T(bitsAt(p, first*int(width), width))
		out = out[1:]
	}
	at := first / 8 * int(width)
	done := 0
	switch q := p[min(at, len(p)):]; {
	case width <= 8:
		done = unpack8(out, q, width)
	case width <= 16:
		done = unpack16(out, q, width)
	case width <= 28:
		done = unpack28(out, q, width)
	case width <= 56:
		done = unpack56(out, q, width)
	}
	for i := done; i < len(out); i++ {
		out[i] = T(bitsAt(p, 8*at+i*int(width), width))
	}
}

// unpack8, unpack16, unpack28 and unpack56 read numbers of at most so many bits, in groups of eight, and return how many they have read.
// They leave those at the end, where a load would go beyond p.
func unpack8[T uint32 | int64](out []T, p []byte, width uint) (done int) {
	mask := T(1)<<width - 1
	w := width & 63
	for len(out)-done >= 8 && len(p) >= 8 {
		o := (*[8]T)(out[done:])
		v := binary.LittleEndian.Uint64(p)
		o[0] = T(v) & mask
		o[1] = T(v>>w) & mask
		o[2] = T(v>>(2*w&63)) & mask
		o[3] = T(v>>(3*w&63)) & mask
		o[4] = T(v>>(4*w&63)) & mask
		o[5] = T(v>>(5*w&63)) & mask
		o[6] = T(v>>(6*w&63)) & mask
		o[7] = T(v>>(7*w&63)) & mask
		done += 8
		p = p[width:]
	}
	return done
}

func unpack16[T uint32 | int64](out []T, p []byte, width uint) (done int) {
	mask := T(1)<<width - 1
	w := width & 63
	half, shift := width/2, width%2*4 // where the fifth number begins
	for len(out)-done >= 8 && len(p) >= 16 {
		o := (*[8]T)(out[done:])
		v := binary.LittleEndian.Uint64(p)
		u := binary.LittleEndian.Uint64(p[half:]) >> (shift & 63)
		o[0] = T(v) & mask
		o[1] = T(v>>w) & mask
		o[2] = T(v>>(2*w&63)) & mask
		o[3] = T(v>>(3*w&63)) & mask
		o[4] = T(u) & mask
		o[5] = T(u>>w) & mask
		o[6] = T(u>>(2*w&63)) & mask
		o[7] = T(u>>(3*w&63)) & mask
		done += 8
		p = p[width:]
	}
	return done
}

func unpack28[T uint32 | int64](out []T, p []byte, width uint) (done int) {
	mask := T(1)<<width - 1
	w := width & 63
	for len(out)-done >= 8 && len(p) >= 32 {
		o := (*[8]T)(out[done:])
		for k := uint(0); k < 8; k += 2 {
			v := binary.LittleEndian.Uint64(p[k*width/8:]) >> (k * width % 8 & 63)
			o[k] = T(v) & mask
			o[k+1] = T(v>>w) & mask
		}
		done += 8
		p = p[width:]
	}
	return done
}

func unpack56[T uint32 | int64](out []T, p []byte, width uint) (done int) {
	mask := uint64(1)<<width - 1
	for len(out)-done >= 8 && uint(len(p)) >= width+8 {
		o := (*[8]T)(out[done:])
		for k := range uint(8) {
			o[k] = T(binary.LittleEndian.Uint64(p[k*width/8:]) >> (k * width % 8 & 63) & mask)
		}
		done += 8
		p = p[width:]
	}
	return done
}

// bitsAt returns the number of width bits that begins at a bit of p. p has all of them.
func bitsAt(p []byte, bit int, width uint) (v uint64) {
	from, shift := bit/8, uint(bit%8)
	if len(p)-from >= 8 {
		v = binary.LittleEndian.Uint64(p[from:]) >> shift
	} else {
		for i, b := range p[from:] {
			v |= uint64(b) << (8 * i)
		}
		v >>= shift
	}
	if shift+width > 64 {
		v |= uint64(p[from+8]) << (64 - shift)
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}
