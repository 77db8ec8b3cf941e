package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendArray appends the header of an array of n elements.
func AppendArray(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x90|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xdc), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(n))
	}
}

// AppendMap appends the header of a map of n pairs.
func AppendMap(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x80|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xde), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, 0xdf), uint32(n))
	}
}

// AppendUint appends v in its shortest form.
func AppendUint(b []byte, v uint64) []byte {
	switch {
	case v < 128:
		return append(b, byte(v))
	case v <= math.MaxUint8:
		return append(b, 0xcc, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), v)
	}
}

// AppendInt appends v in its shortest form.
func AppendInt(b []byte, v int64) []byte {
	switch {
	case v >= 0:
		return AppendUint(b, uint64(v))
	case v >= -32:
		return append(b, byte(v))
	case v >= math.MinInt8:
		return append(b, 0xd0, byte(v))
	case v >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(v))
	case v >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(v))
	}
}

// AppendFloat appends v as a float64.
func AppendFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v))
}

// AppendBool appends v.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 0xc3)
	}
	return append(b, 0xc2)
}

// AppendBools appends an array of booleans.
func AppendBools(b []byte, v []bool) []byte {
	b = AppendArray(b, len(v))
	for _, x := range v {
		b = AppendBool(b, x)
	}
	return b
}

// AppendNil appends nil.
func AppendNil(b []byte) []byte { return append(b, 0xc0) }

// AppendString appends s as a str.
func AppendString[T string | []byte](b []byte, s T) []byte {
	n := len(s)
	switch {
	case n < 32:
		b = append(b, 0xa0|byte(n))
	case n <= math.MaxUint8:
		b = append(b, 0xd9, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xdb), uint32(n))
	}
	return append(b, s...)
}

// AppendBinHeader appends the header of a bin of n bytes. The caller appends the bytes, or sends them separately.
func AppendBinHeader(b []byte, n int) []byte {
	switch {
	case n <= math.MaxUint8:
		return append(b, 0xc4, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xc5), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(n))
	}
}

// AppendBinOf appends a bin with the bytes that content appends. The length comes before them and always takes four bytes, so large
// contents need not be copied when it is known.
func AppendBinOf(b []byte, content func(b []byte) []byte) []byte {
	at := len(b) + 5
	b = content(append(b, 0xc6, 0, 0, 0, 0))
	if uint64(len(b)-at) > math.MaxUint32 {
		panic(fmt.Sprintf("wire: a bin of %d bytes; its length has 32 bits", len(b)-at))
	}
	binary.BigEndian.PutUint32(b[at-4:], uint32(len(b)-at))
	return b
}

// AppendBin appends p as a bin.
func AppendBin(b, p []byte) []byte {
	return append(AppendBinHeader(b, len(p)), p...)
}
