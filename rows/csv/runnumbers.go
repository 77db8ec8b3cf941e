package csv

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Numbers reads columns of a [Run]. Its methods read the fields data[from[k]:to[k]], at most MaxRun of them, and append their values to
// dst. Most stop at the first field that holds no value of their kind. Floats and Decimals also stop at one that they cannot read the fast
// way, such as one of more than eight digits, or one in the first eight bytes of data: fields are loaded as the eight bytes before their
// ends. The zero value is ready for use.
type Numbers struct {
	digits [MaxRun]uint64 // the number without its point
	form   [MaxRun]uint8  // how many digits are behind the point, and minus if it is negative
	months [128]month     // months that were read, by a hash of their text
}

// month is a month that was read. A file has few of them, and a lookup takes a third of the time of counting leap years.
type month struct {
	text   uint64 // "YYYY-MM-"
	before int32  // the day before its first day
	days   uint32 // how many it has; 0 if there is no such month
}

// spread makes the high bits of a product depend on all bits of the other factor (Knuth's multiplicative hashing).
const spread = 0x9e3779b97f4a7c15

// month returns the month of text, or one without days if there is no such month.
func (x *Numbers) month(text uint64) *month {
	m := &x.months[text*spread>>57]
	if m.text != text {
		*m = readMonth(text)
	}
	return m
}

func readMonth(text uint64) month {
	p := [10]byte{8: '0', 9: '1'}
	binary.LittleEndian.PutUint64(p[:], text)
	first, ok := ParseDate(p[:])
	if !ok {
		return month{text: text}
	}
	days := daysOf[(10*(p[5]-'0')+p[6]-'0')&15]
	if p[8], p[9] = '2', '9'; days == 29 {
		if _, leap := ParseDate(p[:]); !leap {
			days--
		}
	}
	return month{text: text, before: int32(first) - 1, days: uint32(days)}
}

// dayIn returns the number of the day that two digits stand for, or a large number if they are none.
func dayIn(p []byte) uint32 {
	digits := uint32(binary.LittleEndian.Uint16(p)) - 0x3030
	if digits>>8 > 9 {
		return 1 << 31
	}
	return 10*(digits&0xff) + digits>>8
}

const minus = 1 << 7

// Parts reads numbers as [ParseDecimal] does: each is value / 10^scale.
func (x *Numbers) Parts(values, scales []int64, data []byte, from, to []uint32) (_, _ []int64) {
	for {
		n := x.read(data, from, to)
		form := x.form[:n]
		for k, d := range x.digits[:n] {
			negative := int64(form[k]) >> 7
			values = append(values, int64(d)^-negative+negative)
			scales = append(scales, int64(form[k]&15))
		}
		if n == len(from) {
			return values, scales
		}
		d, ok := ParseDecimal(data[from[n]:to[n]])
		if !ok {
			return values, scales
		}
		values, scales = append(values, d.Value), append(scales, int64(d.Scale))
		from, to = from[n+1:], to[n+1:]
	}
}

// Floats reads numbers as [ParseFloat] does.
func (x *Numbers) Floats(dst []float64, data []byte, from, to []uint32) []float64 {
	n := x.read(data, from, to)
	digits, form := x.digits[:n], x.form[:n]
	for k, d := range digits {
		f := float64(int64(d)) / exactPowers[form[k]&15] // both are exact, as in Decimal.Float
		dst = append(dst, math.Float64frombits(math.Float64bits(f)|uint64(form[k]&minus)<<56))
	}
	return dst
}

// Decimals reads numbers of at most scale digits behind the point, as integers of 10^-scale. Their amounts are below limit.
func (x *Numbers) Decimals(dst []int64, data []byte, from, to []uint32, scale int, limit int64) []int64 {
	n := x.read(data, from, to)
	digits, form := x.digits[:n], x.form[:n]
	for k, d := range digits {
		up := uint(scale - int(form[k]&15))
		if up >= uint(len(powers)) {
			break
		}
		v := int64(d * powers[up])
		if v >= limit {
			break
		}
		negative := int64(form[k]) >> 7
		dst = append(dst, v^-negative+negative)
	}
	return dst
}

// powers are the powers of ten whose product with a number of eight digits fits into 63 bits.
var powers = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}

// Ints reads integers as [ParseInt] does.
func (x *Numbers) Ints(dst []int64, data []byte, from, to []uint32) []int64 {
	to = to[:len(from)]
	for k, f := range from {
		t := to[k]
		if t >= 8 && int(t) <= len(data) && f < t {
			negative := uint32(0)
			if data[f] == '-' {
				negative = 1
			}
			if n := t - f - negative; n-1 <= 7 {
				unused := 64 - 8*n
				w := (binary.LittleEndian.Uint64(data[t-8:t]) ^ zeros) >> (unused & 63) << (unused & 63)
				if !moreThanDigits(w) {
					dst = append(dst, int64(sum8(w))^-int64(negative)+int64(negative))
					continue
				}
			}
		}
		v, ok := ParseInt(data[f:t])
		if !ok {
			break
		}
		dst = append(dst, v)
	}
	return dst
}

// Dates reads days as [ParseDate] does.
func (x *Numbers) Dates(dst []int64, data []byte, from, to []uint32) []int64 {
	to = to[:len(from)]
	for k, f := range from {
		p := data[f:to[k]]
		if len(p) != 10 {
			break
		}
		m, day := x.month(binary.LittleEndian.Uint64(p)), dayIn(p[8:])
		if day-1 >= m.days {
			break
		}
		dst = append(dst, int64(m.before)+int64(day))
	}
	return dst
}

// DateTimes reads seconds as [ParseDateTime] does, and multiplies them by perSecond.
func (x *Numbers) DateTimes(dst []int64, data []byte, from, to []uint32, perSecond int64) []int64 {
	to = to[:len(from)]
	for k, f := range from {
		p := data[f:to[k]]
		if len(p) != 19 {
			break
		}
		m, day := x.month(binary.LittleEndian.Uint64(p)), dayIn(p[8:])
		w := binary.LittleEndian.Uint64(p[11:]) ^ 0x30303a30303a3030
		bad := (w + 0x76767f76767f7676 | w) & highs
		w = w*10 + w>>8
		hour, minute, second := w&0xff, w>>24&0xff, w>>48&0xff
		if day-1 >= m.days || p[10] != ' ' || bad != 0 || hour > 23 || minute > 59 || second > 59 {
			break
		}
		dst = append(dst, ((int64(m.before)+int64(day))*86400+int64(hour*3600+minute*60+second))*perSecond)
	}
	return dst
}

// read reads up to eight digits, a point before, behind or between them, and a minus before them. It returns how many fields it has read.
func (x *Numbers) read(data []byte, from, to []uint32) int {
	to = to[:len(from)]
	digits, form := x.digits[:len(from)], x.form[:len(from)]
	for k, f := range from {
		t := to[k]
		if t < 8 || int(t) > len(data) || f >= t {
			return k
		}
		negative := uint32(0)
		if data[f] == '-' {
			negative = 1
		}
		n := t - f - negative
		if n-1 > 7 {
			return k
		}
		unused := 64 - 8*n
		w := (binary.LittleEndian.Uint64(data[t-8:t]) ^ zeros) >> (unused & 63) << (unused & 63)
		// As in ShortDecimal.
		d, scale := w^point*ones, 0
		if m := (d - ones) &^ d & highs; m != 0 {
			low := m ^ (m - 1)
			scale = bits.LeadingZeros64(low) / 8
			w = w&^low | w&(low>>8)<<8
			if n == 1 {
				return k
			}
		}
		if moreThanDigits(w) {
			return k
		}
		digits[k], form[k] = sum8(w), uint8(scale)|uint8(negative)<<7
	}
	return len(from)
}
