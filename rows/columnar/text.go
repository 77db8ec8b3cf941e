package columnar

import (
	"fmt"
	"math"
	"strconv"

	"posta.dev/posta/rows/csv"
)

// appendValue appends the text that a typed value stands for.
func appendValue(dst []byte, kind Kind, v int64) []byte {
	switch kind {
	case Int:
		return strconv.AppendInt(dst, v, 10)
	case Float:
		return AppendFloat(dst, math.Float64frombits(uint64(v)), 64)
	case Micros:
		return AppendTime(dst, v, 2)
	case Nanos:
		return AppendTime(dst, v, 3)
	case Days:
		return AppendDay(dst, v)
	case Bool:
		return strconv.AppendBool(dst, v != 0)
	}
	return AppendDecimal(dst, v, int(kind-decimal))
}

// AppendFloat appends the shortest digits that parse to the same bits, without an exponent where a person would write none.
func AppendFloat(dst []byte, v float64, bits int) []byte {
	if bits == 64 {
		if some, ok := appendShort(dst, v); ok {
			return some
		}
	}
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, bits)
}

// appendShort appends a value with at most three digits after the point and few before it, such as a price or a count. strconv
// takes half as long again. Different numbers of at most 15 digits are different floats, and the quotient of two integers below
// 2^53 is rounded correctly. So if the quotient of the digits is the value, the digits parse to the value. Without trailing
// zeros they are the shortest.
func appendShort(dst []byte, v float64) ([]byte, bool) {
	const most, scale = 1e11, 1000          // with three more digits, such a number has fewer than 15
	if !(v > -most && v < most) || v == 0 { // NaN is not in the range, and zero has a sign
		return dst, false
	}
	n := int64(v*scale + math.Copysign(0.5, v))
	if float64(n)/scale != v {
		return dst, false
	}
	digits := 3
	for ; digits > 0 && n%10 == 0; digits-- {
		n /= 10
	}
	return AppendDecimal(dst, n, digits), true
}

func AppendDecimal(dst []byte, v int64, scale int) []byte {
	digits := strconv.AppendUint(make([]byte, 0, 20), magnitude(v), 10)
	return AppendPoint(dst, v < 0, digits, scale)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// AppendPoint appends digits with a point before the last scale of them.
func AppendPoint(dst []byte, negative bool, digits []byte, scale int) []byte {
	if negative {
		dst = append(dst, '-')
	}
	if scale == 0 {
		return append(dst, digits...)
	}
	if len(digits) <= scale {
		dst = append(dst, "0."...)
		for range scale - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	at := len(digits) - scale
	dst = append(dst, digits[:at]...)
	dst = append(dst, '.')
	return append(dst, digits[at:]...)
}

func PerSecond(unit int) int64 {
	switch unit {
	case 1:
		return 1e3
	case 2:
		return 1e6
	}
	return 1e9
}

// Divide rounds down, so the rest is not negative.
func Divide(v, by int64) (whole, rest int64) {
	whole, rest = v/by, v%by
	if rest < 0 {
		whole, rest = whole-1, rest+by
	}
	return whole, rest
}

func AppendTime(dst []byte, v int64, unit int) []byte {
	seconds, fraction := Divide(v, PerSecond(unit))
	day, seconds := Divide(seconds, 86400)
	return AppendClock(append(AppendDay(dst, day), ' '), seconds, fraction, 3*unit)
}

// AppendClock appends a time of day. fraction has the given number of digits; its trailing zeros are dropped.
func AppendClock(dst []byte, seconds, fraction int64, digits int) []byte {
	dst = append(appendPair(dst, seconds/3600), ':')
	dst = append(appendPair(dst, seconds/60%60), ':')
	dst = appendPair(dst, seconds%60)
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	from := len(dst)
	for range digits {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= from; i-- {
		dst[i] += byte(fraction % 10)
		fraction /= 10
	}
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendPair appends a number with at least two digits.
func appendPair(dst []byte, v int64) []byte {
	if v < 0 || v > 99 {
		return strconv.AppendInt(dst, v, 10)
	}
	return append(dst, '0'+byte(v/10), '0'+byte(v%10))
}

// AppendDay appends a day since 1970-01-01. Years without exactly four digits get a sign, as in ISO 8601.
func AppendDay(dst []byte, day int64) []byte {
	const first, last = -719528, 2932896 // first day of the year 0000, last day of 9999
	if day >= first && day <= last {
		return csv.FormatDate(dst, day)
	}
	const era = 146097 // days of 400 years
	eras, rest := Divide(day-first, era)
	near := csv.FormatDate(nil, first+rest) // a day of the years 0000 to 0399
	year, _ := strconv.ParseInt(string(near[:4]), 10, 64)
	if year += 400 * eras; year > 0 {
		dst = append(dst, '+')
	}
	if year < 0 {
		dst = fmt.Appendf(dst, "-%04d", -year)
	} else {
		dst = fmt.Appendf(dst, "%04d", year)
	}
	return append(dst, near[4:]...)
}
