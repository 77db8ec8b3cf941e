package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
)

// AppendText appends a value that is not NULL as DuckDB shows it.
func AppendText(b []byte, v *Vector, row int32, t types.Type) []byte {
	return appendText(b, v, row, t, math.MaxInt)
}

// appendText is AppendText. It stops within a list as soon as b has more than most bytes, because a list may have millions of items.
func appendText(b []byte, v *Vector, row int32, t types.Type, most int) []byte {
	switch v.Kind {
	case types.Date:
		return field.AppendDate(b, v.Ints[row])
	case types.Timestamp:
		return field.AppendTimestamp(b, v.Ints[row])
	case types.Decimal:
		return appendDecimal(b, v.Ints[row], int(t.Scale))
	case types.Interval:
		return appendInterval(b, v.Intervals[row])
	case types.TextList:
		b = append(b, '[')
		for i, s := range v.Lists[row].Items {
			if len(b) > most {
				return b
			}
			if i > 0 {
				b = append(b, ", "...)
			}
			if l := v.Lists[row]; l.Nulls != nil && l.Nulls[i] {
				b = append(b, "NULL"...)
			} else {
				b = appendItem(b, s)
			}
		}
		return append(b, ']')
	case types.Double:
		return appendDouble(b, v.Floats[row])
	case types.Bool:
		return strconv.AppendBool(b, v.Bools[row])
	case types.Text:
		return append(b, v.Texts[row]...)
	}
	return strconv.AppendInt(b, v.Ints[row], 10)
}

// appendItem appends a text of a list, in quotes if it could be misread without.
func appendItem(b []byte, s string) []byte {
	if s != "" && s == strings.TrimSpace(s) && !strings.ContainsAny(s, `,'"()[]{}:=`) && !strings.EqualFold(s, "null") {
		return append(b, s...)
	}
	b = append(b, '\'')
	for i := range len(s) {
		if s[i] == '\'' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '\'')
}

// appendDouble appends the shortest digits that parse to the same number, with an exponent from 1e16 on and below 0.0001, and with .0 after
// whole numbers.
func appendDouble(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, "nan"...)
	case math.IsInf(x, 1):
		return append(b, "inf"...)
	case math.IsInf(x, -1):
		return append(b, "-inf"...)
	}
	if a := math.Abs(x); a != 0 && (a >= 1e16 || a < 1e-4) {
		return strconv.AppendFloat(b, x, 'e', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, x, 'f', -1, 64)
	for _, c := range b[start:] {
		if c == '.' {
			return b
		}
	}
	return append(b, ".0"...)
}

// appendDecimal appends the number that the digits of a DECIMAL stand for.
func appendDecimal(b []byte, v int64, scale int) []byte {
	if v < 0 {
		b = append(b, '-')
		v = -v
	}
	digits := strconv.FormatUint(uint64(v), 10)
	for len(digits) <= scale {
		digits = "0" + digits
	}
	b = append(b, digits[:len(digits)-scale]...)
	if scale > 0 {
		b = append(append(b, '.'), digits[len(digits)-scale:]...)
	}
	return b
}

// appendInterval appends 1 year 2 months 3 days 04:05:06.7.
func appendInterval(b []byte, i plan.Interval) []byte {
	start := len(b)
	part := func(n int32, unit string) {
		if n == 0 {
			return
		}
		if len(b) > start {
			b = append(b, ' ')
		}
		if b = fmt.Appendf(b, "%d %s", n, unit); n != 1 && n != -1 {
			b = append(b, 's')
		}
	}
	part(i.Months/12, "year")
	part(i.Months%12, "month")
	part(i.Days, "day")
	if i.Micros == 0 && len(b) > start {
		return b
	}
	if len(b) > start {
		b = append(b, ' ')
	}
	us := uint64(i.Micros)
	if i.Micros < 0 {
		b = append(b, '-')
		us = -us
	}
	b = fmt.Appendf(b, "%02d:%02d:%02d", us/3600e6, us/60e6%60, us/1e6%60)
	if us %= 1e6; us > 0 {
		digits := fmt.Sprintf("%06d", us)
		for digits[len(digits)-1] == '0' {
			digits = digits[:len(digits)-1]
		}
		b = append(append(b, '.'), digits...)
	}
	return b
}
