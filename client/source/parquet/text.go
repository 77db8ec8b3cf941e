package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"posta.dev/posta/rows/columnar"
)

// Physical types.
const (
	kindBool   = 0
	kindInt32  = 1
	kindInt64  = 2
	kindInt96  = 3
	kindFloat  = 4
	kindDouble = 5
	kindBytes  = 6
	kindFixed  = 7
)

// More of the logical types.
const (
	logicalJSON      = 12
	logicalBSON      = 13
	logicalUUID      = 14
	logicalFloat16   = 15
	logicalInterval  = 100 // only as a converted type
	maxDecimalBytes  = 64
	maxDecimalDigits = 200
)

// texts says how the values of a column become texts: by number for types of at most eight bytes, by bytes for the others.
type texts struct {
	number func(dst []byte, bits uint64) []byte
	bytes  func(dst, value []byte) []byte // nil if the bytes are the text
	width  int                            // bytes of a value; 0 if each value has its own length

	// travels is the kind as which values are sent; 0 if they are sent as texts. convert makes what is sent from the bits of numbers, nil if
	// they are the same, and ints from bytes. Both return false if some of the values have to be sent as texts.
	travels columnar.Kind
	convert func(dst, bits []int64) bool
	ints    func(dst []int64, values *columnar.Texts) bool

	narrow      bool // numbers are from least to most, by their type
	least, most int64
}

// meaning returns the logical type of an element, or the one that its converted type stands for.
func (e *element) meaning() (logical, unit int, unsigned bool) {
	if e.logical != 0 {
		return e.logical, e.unit, e.unsigned
	}
	switch e.converted {
	case 5:
		return logicalDecimal, 0, false
	case 6:
		return logicalDate, 0, false
	case 7, 8:
		return logicalTime, int(e.converted - 6), false
	case 9, 10:
		return logicalTimestamp, int(e.converted - 8), false
	case 11, 12, 13, 14:
		return logicalInteger, 0, true
	case 20:
		return logicalBSON, 0, false
	case 21:
		return logicalInterval, 0, false
	}
	return 0, 0, false
}

// textsOf returns how values of a type become texts.
func textsOf(e *element) (t texts, err error) {
	if foreign := e.foreign(); foreign != "" {
		return t, fmt.Errorf("%w: column %q is %s; write it as text", ErrUnread, e.name, foreign)
	}
	logical, unit, unsigned := e.meaning()
	scale := int(min(max(e.scale, -1), maxDecimalDigits+1))
	switch e.kind {
	case kindBool:
		t.number = func(dst []byte, v uint64) []byte { return strconv.AppendBool(dst, v != 0) }
		t.travels = columnar.Bool
	case kindInt32, kindInt64:
		t.width = 4
		if e.kind == kindInt64 {
			t.width = 8
		}
		t.number = integer(logical, unit, unsigned, scale, t.width == 4)
		t.least, t.most, t.narrow = e.ends(unsigned)
		t.travels, t.convert = typed(logical, unit, unsigned, scale, t.width == 4)
	case kindInt96:
		t.width, t.bytes = 12, appendInt96
		t.travels, t.ints = columnar.Nanos, moments
	case kindFloat:
		t.width = 4
		t.travels, t.convert = columnar.Float, floats
		t.number = func(dst []byte, v uint64) []byte {
			return columnar.AppendFloat(dst, float64(math.Float32frombits(uint32(v))), 32)
		}
	case kindDouble:
		t.width, t.travels = 8, columnar.Float
		t.number = func(dst []byte, v uint64) []byte { return columnar.AppendFloat(dst, math.Float64frombits(v), 64) }
	case kindBytes, kindFixed:
		if t.width, t.bytes, err = bytesOf(e, logical, scale); err != nil {
			return t, err
		}
		if logical == logicalDecimal && scale <= columnar.MaxScale {
			t.travels, t.ints = kindOfDecimal(scale), decimals
		}
	}
	if logical == logicalDecimal && (scale < 0 || scale > maxDecimalDigits) {
		return t, damaged("the footer", "column %.80q has %d digits behind the point", e.name, e.scale)
	}
	return t, nil
}

// bytesOf returns how values become texts that are bytes in the file, nil if they are texts there, and how many bytes each has; 0 if it
// varies.
func bytesOf(e *element, logical, scale int) (width int, made func(dst, value []byte) []byte, err error) {
	if e.kind == kindFixed {
		if width = int(e.length); e.length <= 0 || e.length > MaxMemory {
			return 0, nil, damaged("the footer", "values of column %.80q have %d bytes", e.name, e.length)
		}
	}
	switch {
	case logical == logicalDecimal && width > maxDecimalBytes:
		return 0, nil, damaged("the footer", "values of column %.80q are decimals of %d bytes", e.name, width)
	case logical == logicalDecimal:
		made = func(dst, value []byte) []byte { return appendBig(dst, value, scale) }
	case logical == logicalUUID && width == 16:
		made = appendUUID
	case logical == logicalFloat16 && width == 2:
		made = func(dst, value []byte) []byte {
			return columnar.AppendFloat(dst, half(binary.LittleEndian.Uint16(value)), 32)
		}
	}
	return width, made, nil
}

// typed returns the kind as which integers are sent, so that their text is that of [integer], and texts.convert.
func typed(logical, unit int, unsigned bool, scale int, short bool) (columnar.Kind, func(dst, bits []int64) bool) {
	switch {
	case logical == logicalDecimal && scale > columnar.MaxScale || logical == logicalTime && unit > 0:
		return 0, nil
	case logical == logicalDecimal:
		return kindOfDecimal(scale), nil
	case logical == logicalDate && short:
		return columnar.Days, nil
	case logical == logicalTimestamp && unit == 1:
		return columnar.Micros, thousandfold
	case logical == logicalTimestamp && unit == 2:
		return columnar.Micros, nil
	case logical == logicalTimestamp && unit > 0:
		return columnar.Nanos, nil
	case unsigned && short:
		return columnar.Int, unsigned32
	case unsigned:
		return columnar.Int, unsigned64
	}
	return columnar.Int, nil
}

// kindOfDecimal returns the kind of a decimal of a scale, which may be that of an integer, or wrong.
func kindOfDecimal(scale int) columnar.Kind {
	if scale <= 0 {
		return columnar.Int
	}
	return columnar.Decimal(scale)
}

// ends returns the range of integers that have fewer bits than their physical type; narrow is false for others.
func (e *element) ends(unsigned bool) (least, most int64, narrow bool) {
	bits := e.bits
	if e.logical == 0 {
		bits = map[int64]int64{11: 8, 12: 16, 15: 8, 16: 16}[e.converted] // UINT_8, UINT_16, INT_8, INT_16
	}
	if e.kind != kindInt32 || bits != 8 && bits != 16 {
		return 0, 0, false
	}
	if unsigned {
		return 0, int64(1)<<bits - 1, true
	}
	return -int64(1) << (bits - 1), int64(1)<<(bits-1) - 1, true
}

// inRange returns an error if a number is outside of its type.
func (t *texts) inRange(all []int64) error {
	if !t.narrow {
		return nil
	}
	for _, n := range all {
		if n < t.least || n > t.most {
			return fmt.Errorf("it has the number %d, and its type goes from %d to %d", n, t.least, t.most)
		}
	}
	return nil
}

// integer returns the function that turns an integer into text.
func integer(logical, unit int, unsigned bool, scale int, short bool) func([]byte, uint64) []byte {
	signed := func(v uint64) int64 {
		if short {
			return int64(int32(v))
		}
		return int64(v)
	}
	switch {
	case logical == logicalDecimal && scale > 0:
		return func(dst []byte, v uint64) []byte { return columnar.AppendDecimal(dst, signed(v), scale) }
	case logical == logicalDate && short:
		return func(dst []byte, v uint64) []byte { return columnar.AppendDay(dst, signed(v)) }
	case logical == logicalTime && unit > 0:
		return func(dst []byte, v uint64) []byte {
			clock := signed(v)
			if clock < 0 { // no time of day, and still shown as it is
				dst, clock = append(dst, '-'), -max(clock, -math.MaxInt64)
			}
			seconds, fraction := columnar.Divide(clock, columnar.PerSecond(unit))
			return columnar.AppendClock(dst, seconds, fraction, 3*unit)
		}
	case logical == logicalTimestamp && unit > 0:
		return func(dst []byte, v uint64) []byte { return columnar.AppendTime(dst, signed(v), unit) }
	case unsigned && short:
		return func(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, uint64(uint32(v)), 10) }
	case unsigned:
		return func(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) }
	}
	return func(dst []byte, v uint64) []byte { return strconv.AppendInt(dst, signed(v), 10) }
}

// half returns the value of a float of 16 bits.
func half(v uint16) float64 {
	sign, exponent, fraction := 1-2*float64(v>>15), int(v>>10&31), float64(v&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// appendBig appends a decimal that is stored as a signed number of any length, the highest byte first.
func appendBig(dst, value []byte, scale int) []byte {
	if len(value) > maxDecimalBytes {
		return append(dst, "a decimal of too many digits"...)
	}
	if len(value) <= 8 {
		var v int64
		if len(value) > 0 {
			v = int64(int8(value[0]))
		}
		for _, b := range value[min(1, len(value)):] {
			v = v<<8 | int64(b)
		}
		return columnar.AppendDecimal(dst, v, scale)
	}
	n := new(big.Int).SetBytes(value)
	if value[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
	}
	negative := n.Sign() < 0
	return columnar.AppendPoint(dst, negative, n.Abs(n).Append(nil, 10), scale)
}

func appendUUID(dst, v []byte) []byte {
	for i, part := range [][]byte{v[:4], v[4:6], v[6:8], v[8:10], v[10:16]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

// appendInt96 appends a time in the format of older writers: nanoseconds of the day, and the Julian day number.
func appendInt96(dst, v []byte) []byte {
	const epoch = 2440588 // 1970-01-01
	nanoseconds, day := int64(binary.LittleEndian.Uint64(v)), int64(binary.LittleEndian.Uint32(v[8:]))-epoch
	seconds, fraction := columnar.Divide(nanoseconds, 1e9)
	more, seconds := columnar.Divide(seconds, 86400)
	return columnar.AppendClock(append(columnar.AppendDay(dst, day+more), ' '), seconds, fraction, 9)
}
