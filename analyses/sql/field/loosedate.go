package field

import (
	"bytes"
	"fmt"

	"posta.dev/posta/rows/csv"
)

// LooseDate reads the date at the beginning of a text, as CAST does: blanks may come before it, month and day may have one digit, and its
// parts are separated by one of - / \ and a blank. What follows is ignored unless it is a digit, or makes another date of it: " (BC)".
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
	return Timestamp(append(append(csv.FormatDate(nil, days), ' '), rest...))
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
	if !ok || len(p) > 0 && p[0] >= '0' && p[0] <= '9' || len(p) >= len(bc) && string(p[:len(bc)]) == bc {
		return 0, nil, false
	}
	var canonical [16]byte
	days, ok = csv.ParseDate(fmt.Appendf(canonical[:0], "%04d-%02d-%02d", year, month, day))
	return days, p, ok
}

// bc marks a year before Christ. Posta has no such dates.
const bc = " (BC)"

// number reads one to most digits.
func number(p []byte, most int) (n int, rest []byte, ok bool) {
	i := 0
	for i < most && i < len(p) && p[i] >= '0' && p[i] <= '9' {
		n = n*10 + int(p[i]-'0')
		i++
	}
	return n, p[i:], i > 0
}
