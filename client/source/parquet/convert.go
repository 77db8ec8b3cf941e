package parquet

import (
	"encoding/binary"
	"math"
	"strconv"

	"posta.dev/posta/rows/columnar"
)

// unsigned32 converts unsigned numbers of four bytes, which were read as signed ones.
func unsigned32(dst, bits []int64) bool {
	for i, v := range bits {
		dst[i] = v & math.MaxUint32
	}
	return true
}

// unsigned64 converts unsigned numbers that are at most the largest signed one.
func unsigned64(dst, bits []int64) bool {
	all := int64(0)
	for i, v := range bits {
		all |= v
		dst[i] = v
	}
	return all >= 0
}

// thousandfold converts milliseconds to microseconds.
func thousandfold(dst, bits []int64) bool {
	const most = math.MaxInt64 / 1000
	for i, v := range bits {
		if v < -most || v > most {
			return false
		}
		dst[i] = v * 1000
	}
	return true
}

// floats converts floats of four bytes to those of eight bytes to which their shortest digits parse, so that both have the same text. They
// are not the same numbers: 0.1 is not as far from a tenth in eight bytes as in four.
func floats(dst, bits []int64) bool {
	const most, scale = 1e6, 1000 // different numbers of at most six digits are different floats of four bytes
	for i, v := range bits {
		short := math.Float32frombits(uint32(v))
		f := float64(short)
		if f > -most/scale && f < most/scale && f != 0 {
			n := int64(f*scale + math.Copysign(0.5, f))
			if near := float64(n) / scale; float32(near) == short {
				dst[i] = int64(math.Float64bits(near))
				continue
			}
		}
		if f-f == 0 && f != 0 { // neither infinite nor NaN
			var room [32]byte
			near, err := strconv.ParseFloat(string(strconv.AppendFloat(room[:0], f, 'e', -1, 32)), 64)
			if err != nil || exponential(f) != exponential(near) {
				return false
			}
			f = near
		}
		dst[i] = int64(math.Float64bits(f))
	}
	return true
}

// exponential reports whether columnar.AppendFloat writes a number with an exponent.
func exponential(f float64) bool {
	a := math.Abs(f)
	return a < 1e-6 || a >= 1e21
}

// decimals converts decimals that are stored as signed numbers of any length, the highest byte first.
func decimals(dst []int64, values *columnar.Texts) bool {
	for i, from := range values.From {
		p := values.Bytes[from:values.To[i]]
		if len(p) > maxDecimalBytes {
			return false
		}
		v := int64(0)
		if len(p) > 0 {
			v = int64(int8(p[0])) >> 7 // all bits are the sign
		}
		for ; len(p) > 8; p = p[1:] {
			if int64(int8(p[0])) != v {
				return false
			}
		}
		if len(p) == 8 {
			n := int64(binary.BigEndian.Uint64(p))
			if n>>63 != v { // a byte before it has another sign
				return false
			}
			dst[i] = n
			continue
		}
		for _, b := range p {
			v = v<<8 | int64(b)
		}
		dst[i] = v
	}
	return true
}

// moments converts times in the format of older writers, see appendInt96.
func moments(dst []int64, values *columnar.Texts) bool {
	const epoch, perDay = 2440588, 24 * 60 * 60 * 1_000_000_000
	const most = math.MaxInt64/perDay - 1
	for i, from := range values.From {
		p := values.Bytes[from:values.To[i]]
		clock, day := int64(binary.LittleEndian.Uint64(p)), int64(binary.LittleEndian.Uint32(p[8:]))-epoch
		if clock < 0 || clock > perDay || day < -most || day > most {
			return false
		}
		dst[i] = day*perDay + clock
	}
	return true
}
