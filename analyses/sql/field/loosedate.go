package field

import (
	"bytes"
	"fmt"

	"posta.dev/posta/rows/csv"
)

// LooseDate reads the date at the beginning of a text, as CAST does: blanks may come before it, month and day may have one digit, and its
// parts are separated by one of - / \ and a blank. What follows is ignored unless it is a digit, or makes another date of it: " (BC)" or "
// (bc)".
func LooseDate(p []byte) (days int64, ok bool) {
	days, _, ok = cutDate(p)
	return days, ok
}

// LooseTimestamp is Timestamp for a text whose date is as LooseDate takes it. Several blanks may follow the date.
func LooseTimestamp(p []byte) (micros int64, ok bool) {
	days, rest, ok := cutDate(p)
	if !ok {
		return 0, false
	}
	switch {
	case len(rest) == 0:
		return days * microsPerDay, true
	case rest[0] == 'T':
		rest = rest[1:]
	case rest[0] == ' ':
		rest = bytes.TrimLeft(rest, " ")
	default:
		return 0, false
	}
	micros, offset, ok := clock(rest)
	return days*microsPerDay + micros - offset*60_000_000, ok
}

// Time reads a time of day as CAST does, as microseconds since midnight: hours, minutes and seconds may have one digit, blanks may stand
// around it, and an offset behind it is ignored. Of a timestamp it is the time.
func Time(p []byte) (micros int64, ok bool) {
	p = trim(p)
	if _, rest, dated := cutDate(p); dated {
		if len(rest) == 0 {
			return 0, true
		}
		if rest[0] != 'T' && rest[0] != ' ' {
			return 0, false
		}
		p = bytes.TrimLeft(rest[1:], " ")
	}
	var digits [3]int
	n := 0
	for rest := p; n < len(digits); n++ {
		var is bool
		if digits[n], rest, is = number(rest, 2); !is {
			return 0, false
		}
		if p = rest; len(rest) == 0 || rest[0] != ':' {
			n++
			break
		}
		rest = rest[1:]
	}
	micros, _, ok = clock(fmt.Appendf(nil, "%02d:%02d:%02d%s", digits[0], digits[1], digits[2], p))
	return micros, ok && n > 1 && micros < microsPerDay
}

func cutDate(p []byte) (days int64, rest []byte, ok bool) {
	for len(p) > 0 && (p[0] == ' ' || p[0] >= '\t' && p[0] <= '\r') {
		p = p[1:]
	}
	year, p, ok := number(p, 9)
	if !ok || year > 9999 || len(p) == 0 || p[0] != '-' && p[0] != '/' && p[0] != '\\' && p[0] != ' ' {
		return 0, nil, false
	}
	separator := p[0]
	month, p, ok := number(p[1:], 2)
	if !ok || len(p) == 0 || p[0] != separator {
		return 0, nil, false
	}
	day, p, ok := number(p[1:], 2)
	if !ok || len(p) > 0 && p[0] >= '0' && p[0] <= '9' || len(p) >= len(bc) && isWord(p[:len(bc)], bc) {
		return 0, nil, false
	}
	var canonical [16]byte
	days, ok = csv.ParseDate(fmt.Appendf(canonical[:0], "%04d-%02d-%02d", year, month, day))
	return days, p, ok
}

// bc marks a year before Christ, which is not read.
const bc = " (bc)"

// number reads one to most digits.
func number(p []byte, most int) (n int, rest []byte, ok bool) {
	i := 0
	for i < most && i < len(p) && p[i] >= '0' && p[i] <= '9' {
		n = n*10 + int(p[i]-'0')
		i++
	}
	return n, p[i:], i > 0
}
