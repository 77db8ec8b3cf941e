package field

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unsafe"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/csv"
)

const microsPerDay = 24 * 60 * 60 * 1_000_000

// IsNull reports whether a field of a csv.Scanner is NULL: it is empty and not quoted, or belongs to a column that the file
// lacks.
func IsNull(p []byte, quoted bool) bool { return len(p) == 0 && !quoted }

// Nulls are the texts that stand for NULL where they are not quoted. If there are none, it is the empty text.
type Nulls []string

// Null reports whether a field of a csv.Scanner is NULL, which a field of a column that the file lacks always is.
func (n Nulls) Null(p []byte, quoted bool) bool {
	if n == nil || p == nil {
		return IsNull(p, quoted)
	}
	return !quoted && slices.Contains(n, Text(p))
}

// KindOf returns the narrowest type of a text. Numbers with leading zeros, such as postal codes, are TEXT. Blanks around a number or a date
// do not matter, as they do not when it is read; those around any other text belong to it.
func KindOf(p []byte) types.Kind {
	bare := trim(p)
	if len(bare) == 0 || zeros(bare) {
		return types.Text
	}
	if _, ok := csv.ParseInt(bare); ok {
		return types.BigInt
	}
	if _, ok := csv.ParseFloat(bare); ok {
		return types.Double
	}
	if _, ok := csv.ParseDate(bare); ok {
		return types.Date
	}
	if _, ok := Timestamp(p); ok {
		return types.Timestamp
	}
	if isWord(p, "true") || isWord(p, "false") {
		return types.Bool
	}
	return types.Text
}

// zeros reports whether a number begins with a superfluous zero: 007, -01.5, but not 0.7.
func zeros(p []byte) bool {
	if p[0] == '-' || p[0] == '+' {
		p = p[1:]
	}
	return len(p) > 1 && p[0] == '0' && p[1] >= '0' && p[1] <= '9'
}

// BigInt reads an integer.
func BigInt(p []byte) (int64, bool) {
	if v, ok := csv.ParseInt(p); ok {
		return v, true
	}
	return csv.ParseInt(trim(p))
}

// Double reads a number, including inf and nan.
func Double(p []byte) (float64, bool) {
	if v, ok := csv.ParseFloat(p); ok {
		return v, true
	}
	p = trim(p)
	if v, ok := csv.ParseFloat(p); ok {
		return v, true
	}
	sign, word := 1, p
	if len(p) > 0 && (p[0] == '-' || p[0] == '+') {
		word = p[1:]
		if p[0] == '-' {
			sign = -1
		}
	}
	switch {
	case isWord(word, "inf"), isWord(word, "infinity"):
		return math.Inf(sign), true
	case isWord(word, "nan"):
		return math.NaN(), true
	}
	return 0, false
}

// Powers are the powers of ten that fit into 64 bits.
var Powers = [...]int64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// Decimal reads a number as digits of a DECIMAL, rounded half away from zero.
func Decimal(p []byte, t types.Type) (int64, bool) {
	if n := len(p); 0 < n && n <= 8 { // as nearly all have
		if d, ok := csv.ShortDecimal(p); ok {
			if up := uint(int(t.Scale) - d.Scale); up <= 10 { // of 8 digits, so the product fits
				v := d.Value * Powers[up]
				return v, v < Powers[t.Precision]
			}
		}
	}
	d, ok := csv.ParseDecimal(trim(p))
	if !ok {
		return 0, false
	}
	v := d.Value
	for ; d.Scale < int(t.Scale); d.Scale++ {
		if v > math.MaxInt64/10 || v < -math.MaxInt64/10 {
			return 0, false
		}
		v *= 10
	}
	for last := int64(0); d.Scale > int(t.Scale); {
		last = v % 10
		v /= 10
		if d.Scale--; d.Scale == int(t.Scale) && last >= 5 {
			v++
		} else if d.Scale == int(t.Scale) && last <= -5 {
			v--
		}
	}
	most := Powers[t.Precision]
	return v, v < most && v > -most
}

// Bool reads the texts that DuckDB reads as a BOOLEAN.
func Bool(p []byte) (v, ok bool) {
	for _, w := range []string{"true", "t", "1", "yes", "y"} {
		if isWord(p, w) {
			return true, true
		}
	}
	for _, w := range []string{"false", "f", "0", "no", "n"} {
		if isWord(p, w) {
			return false, true
		}
	}
	return false, false
}

// Date reads YYYY-MM-DD as days since 1970.
func Date(p []byte) (int64, bool) {
	if v, ok := csv.ParseDate(p); ok {
		return v, true
	}
	return csv.ParseDate(trim(p))
}

// Timestamp reads YYYY-MM-DD, a space or T, HH:MM[:SS[.ffffff]], and Z or an offset, as microseconds since 1970 in UTC. A date alone is its
// midnight, and 24:00:00 that of the next day.
func Timestamp(p []byte) (int64, bool) {
	if len(p) < 10 {
		return 0, false
	}
	days, ok := csv.ParseDate(p[:10])
	if !ok {
		return 0, false
	}
	micros := days * microsPerDay
	if len(p) == 10 {
		return micros, true
	}
	if p[10] != ' ' && p[10] != 'T' {
		return 0, false
	}
	clock, offset, ok := clock(p[11:])
	return micros + clock - offset*60_000_000, ok
}

// clock reads HH:MM[:SS[.ffffff]] as microseconds, and Z or an offset behind it, which it returns in minutes. 24:00:00 is the end of the
// day.
func clock(p []byte) (micros, offset int64, ok bool) {
	hour, p, ok := two(p, 24)
	if !ok || len(p) == 0 || p[0] != ':' {
		return 0, 0, false
	}
	minute, p, ok := two(p[1:], 59)
	if !ok {
		return 0, 0, false
	}
	second, fraction := int64(0), int64(0)
	if len(p) > 0 && p[0] == ':' {
		if second, p, ok = two(p[1:], 59); !ok {
			return 0, 0, false
		}
		if len(p) > 0 && p[0] == '.' {
			if fraction, p, ok = micro(p[1:]); !ok {
				return 0, 0, false
			}
		}
	}
	offset, ok = zone(p)
	micros = (hour*3600+minute*60+second)*1_000_000 + fraction
	return micros, offset, ok && micros <= microsPerDay
}

// AnyDate reads a day of any year: as package columnar writes those whose years do not have four digits, with a sign and 0000 for the year
// before 1, and as AppendDate shows them.
func AnyDate(p []byte) (int64, bool) {
	if v, ok := Date(p); ok {
		return v, true
	}
	days, rest, ok := anyDate(p)
	return days, ok && len(rest) == 0
}

// AnyTimestamp reads a time of such a day.
func AnyTimestamp(p []byte) (int64, bool) {
	if v, ok := Timestamp(p); ok {
		return v, true
	}
	const most = math.MaxInt64/microsPerDay - 1
	days, rest, ok := anyDate(p)
	if !ok || days > most || days < -most {
		return 0, false
	}
	of, ok := Timestamp(append([]byte("1970-01-01"), rest...))
	return days*microsPerDay + of, ok
}

// anyDate reads the date at the beginning of p.
func anyDate(p []byte) (days int64, rest []byte, ok bool) {
	const most = 7 // digits: more years than 32 bits of days have
	from := 0
	if len(p) > 0 && (p[0] == '+' || p[0] == '-') {
		from = 1
	}
	n := from
	for n < len(p) && p[n] >= '0' && p[n] <= '9' {
		n++
	}
	if n-from < 4 || n-from > most || len(p) < n+6 || p[n] != '-' || p[n+3] != '-' {
		return 0, nil, false
	}
	y, err := strconv.ParseInt(string(p[:n]), 10, 64)
	m, _, isMonth := two(p[n+1:], 12)
	d, rest, isDay := two(p[n+4:], 31)
	if after, bc := bytes.CutPrefix(rest, []byte(" (BC)")); bc {
		y, rest = 1-y, after
	}
	days = Days(y, m, d)
	gotY, gotM, gotD := Civil(days)
	return days, rest, err == nil && isMonth && isDay && gotY == y && gotM == m && gotD == d
}

// two reads two digits as a number that is at most most.
func two(p []byte, most int64) (v int64, rest []byte, ok bool) {
	if len(p) < 2 || p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9' {
		return 0, nil, false
	}
	v = int64(p[0]-'0')*10 + int64(p[1]-'0')
	return v, p[2:], v <= most
}

// micro reads the digits after the point of the seconds. Those after the sixth are cut off.
func micro(p []byte) (v int64, rest []byte, ok bool) {
	n := 0
	for n < len(p) && p[n] >= '0' && p[n] <= '9' {
		if n < 6 {
			v = v*10 + int64(p[n]-'0')
		}
		n++
	}
	for i := n; i < 6; i++ {
		v *= 10
	}
	return v, p[n:], n > 0
}

// zone reads what may follow a time: nothing, Z, or an offset, which it returns in minutes.
func zone(p []byte) (minutes int64, ok bool) {
	switch {
	case len(p) == 0, len(p) == 1 && p[0] == 'Z':
		return 0, true
	case p[0] != '+' && p[0] != '-':
		return 0, false
	}
	hours, rest, ok := two(p[1:], 23)
	minutes = 0
	if ok && len(rest) > 0 {
		if rest[0] == ':' {
			rest = rest[1:]
		}
		minutes, rest, ok = two(rest, 59)
		ok = ok && len(rest) == 0
	}
	minutes += 60 * hours
	if p[0] == '-' {
		minutes = -minutes
	}
	return minutes, ok
}

// trim removes blanks at both ends, as DuckDB does for numbers and dates.
func trim(p []byte) []byte {
	blank := func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	for len(p) > 0 && blank(p[0]) {
		p = p[1:]
	}
	for len(p) > 0 && blank(p[len(p)-1]) {
		p = p[:len(p)-1]
	}
	return p
}

// isWord compares a text with a lower-case word, without regard to case.
func isWord(p []byte, word string) bool {
	if len(p) != len(word) {
		return false
	}
	for i := range p {
		if p[i]|0x20 != word[i] && p[i] != word[i] {
			return false
		}
	}
	return true
}

// AppendTimestamp appends a timestamp as DuckDB shows it: 2024-02-29 13:05:00, with as many fractional digits as it needs.
func AppendTimestamp(b []byte, micros int64) []byte {
	days := floor(micros, microsPerDay)
	rest := micros - days*microsPerDay
	b = AppendDate(b, days)
	b = append(b, ' ')
	return AppendTime(b, rest)
}

// AppendTime appends microseconds since midnight as DuckDB shows them: 13:05:00, with as many fractional digits as they need.
func AppendTime(b []byte, rest int64) []byte {
	for i, unit := range []int64{3600e6, 60e6, 1e6} {
		if i > 0 {
			b = append(b, ':')
		}
		v := rest / unit
		rest -= v * unit
		b = append(b, byte('0'+v/10), byte('0'+v%10))
	}
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for unit := int64(100_000); rest > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

// AppendDate appends a day as YYYY-MM-DD. Years beyond 9999 have as many digits as they need, and those before Christ end in (BC), as in
// DuckDB.
func AppendDate(b []byte, days int64) []byte {
	const first, last = -719528, 2932896 // 0000-01-01 and 9999-12-31
	if days >= first+366 && days <= last {
		return csv.FormatDate(b, days)
	}
	y, m, d := Civil(days)
	bc := y <= 0
	if bc {
		y = 1 - y
	}
	text := strconv.FormatInt(y, 10)
	for range 4 - len(text) {
		b = append(b, '0')
	}
	b = append(b, text...)
	b = append(b, '-', byte('0'+m/10), byte('0'+m%10), '-', byte('0'+d/10), byte('0'+d%10))
	if bc {
		b = append(b, " (BC)"...)
	}
	return b
}

// Days returns the days from 1970 to any date. The algorithm is Howard Hinnant's days_from_civil.
func Days(y, m, d int64) int64 {
	if m <= 2 {
		y--
	}
	era := floor(y, 400)
	of := y - era*400
	mp := (m + 9) % 12
	day := (153*mp+2)/5 + d - 1
	return era*146097 + of*365 + of/4 - of/100 + day - 719468
}

// Civil returns year, month and day of any day since 1970. The algorithm is Howard Hinnant's civil_from_days.
func Civil(days int64) (y, m, d int64) {
	days += 719468
	era := floor(days, 146097)
	of := days - era*146097
	year := (of - of/1460 + of/36524 - of/146096) / 365
	day := of - (365*year + year/4 - year/100)
	mp := (5*day + 2) / 153
	d = day - (153*mp+2)/5 + 1
	m = mp + 3
	if m > 12 {
		m -= 12
	}
	y = year + era*400
	if m <= 2 {
		y++
	}
	return y, m, d
}

func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Text returns p as a text without copying it. The text is valid as long as p does not change.
func Text(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }
