package eval

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/field"
)

// strftime formats dates with the directives of C.
func strftime(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		days, micros := k.day(0, args[0], i)
		s, bad := formatted(args[1].Texts[i], days, micros)
		if bad != "" {
			return i, bad
		}
		k.out.Texts[i] = s
	}
	return ok, ""
}

func formatted(format string, days, micros int64) (text, bad string) {
	y, m, d := field.Civil(days)
	hour, minute, second := micros/3600e6, micros/60e6%60, micros/1e6%60
	var b []byte
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b = append(b, format[i])
			continue
		}
		if i++; i == len(format) {
			return "", "the format ends with %"
		}
		width := "%02d"
		if format[i] == '-' && i+1 < len(format) {
			i++
			width = "%d"
		}
		switch c := format[i]; c {
		case 'Y':
			b = fmt.Appendf(b, "%04d", y)
		case 'y':
			b = fmt.Appendf(b, width, (y%100+100)%100)
		case 'm':
			b = fmt.Appendf(b, width, m)
		case 'd':
			b = fmt.Appendf(b, width, d)
		case 'H':
			b = fmt.Appendf(b, width, hour)
		case 'I':
			b = fmt.Appendf(b, width, (hour+11)%12+1)
		case 'M':
			b = fmt.Appendf(b, width, minute)
		case 'S':
			b = fmt.Appendf(b, width, second)
		case 'f':
			b = fmt.Appendf(b, "%06d", micros%1e6)
		case 'g':
			b = fmt.Appendf(b, "%03d", micros%1e6/1000)
		case 'p':
			b = append(b, "AMPM"[hour/12*2:hour/12*2+2]...)
		case 'j':
			if width == "%02d" {
				width = "%03d"
			}
			b = fmt.Appendf(b, width, days-field.Days(y, 1, 1)+1)
		case 'A', 'a':
			name := time.Weekday(weekday(days)).String()
			if c == 'a' {
				name = name[:3]
			}
			b = append(b, name...)
		case 'B', 'b', 'h':
			name := time.Month(m).String()
			if c != 'B' {
				name = name[:3]
			}
			b = append(b, name...)
		case 'u':
			b = strconv.AppendInt(b, (weekday(days)+6)%7+1, 10)
		case 'w':
			b = strconv.AppendInt(b, weekday(days), 10)
		case 'G':
			iso, _ := isoWeek(days)
			b = fmt.Appendf(b, "%04d", iso)
		case 'V':
			_, week := isoWeek(days)
			b = fmt.Appendf(b, "%02d", week)
		case 'x':
			b = fmt.Appendf(b, "%04d-%02d-%02d", y, m, d)
		case 'X':
			b = fmt.Appendf(b, "%02d:%02d:%02d", hour, minute, second)
		case 'c':
			b = fmt.Appendf(b, "%04d-%02d-%02d %02d:%02d:%02d", y, m, d, hour, minute, second)
		case '%':
			b = append(b, '%')
		default:
			return "", fmt.Sprintf("a format of dates has no %%%c", c)
		}
	}
	return string(b), ""
}

// strptime reads dates in a format. A text that does not match the format fails the session; try_strptime returns NULL for it.
func strptime(try bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			if args[0].IsNull(i) || args[1].IsNull(i) {
				k.out.setNull(i)
				continue
			}
			text, format := args[0].Texts[i], args[1].Texts[i]
			if bad := badFormat(format); bad != "" {
				return i, bad
			}
			micros, is := parsed(text, format)
			switch {
			case is:
				k.out.Ints[i] = micros
			case try:
				k.out.setNull(i)
			default:
				return i, fmt.Sprintf("%q does not have the format %q", text, format)
			}
		}
		return ok, ""
	}
}

// reading is the state of parsing a date.
type reading struct {
	s                             string
	y, m, d, hour, minute, second int64
	micros, offset                int64
	pm, twelve                    bool
}

// number reads at most most digits.
func (r *reading) number(most int) (v int64, ok bool) {
	n := 0
	for n < len(r.s) && n < most && r.s[n] >= '0' && r.s[n] <= '9' {
		v = v*10 + int64(r.s[n]-'0')
		n++
	}
	r.s = r.s[n:]
	return v, n > 0
}

// word reads the first of several names that the text begins with, without regard to case. It returns the name's index.
func (r *reading) word(names func(i int) string, n, cut int) (int64, bool) {
	for i := range n {
		name := names(i)
		if cut > 0 {
			name = name[:cut]
		}
		if len(r.s) >= len(name) && strings.EqualFold(r.s[:len(name)], name) {
			r.s = r.s[len(name):]
			return int64(i), true
		}
	}
	return 0, false
}

func month(i int) string { return time.Month(i + 1).String() }
func wday(i int) string  { return time.Weekday(i).String() }

// badFormat says what is wrong with a format, "" if nothing is.
func badFormat(format string) string {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i < len(format) && format[i] == '-' {
			i++
		}
		if i >= len(format) {
			return "the format ends with %"
		}
		if !strings.Contains("YymdHIMSfpBbhAaz%", format[i:i+1]) {
			return fmt.Sprintf("a format of dates has no %%%c", format[i])
		}
	}
	return ""
}

// parsed reads a timestamp in a format that is not bad. It returns false if the text does not have the format.
func parsed(s, format string) (micros int64, ok bool) {
	r := &reading{s: s, y: 1900, m: 1, d: 1}
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' {
			if r.s == "" || r.s[0] != c {
				return 0, false
			}
			r.s = r.s[1:]
			continue
		}
		if i++; format[i] == '-' {
			i++
		}
		if !r.field(format[i]) {
			return 0, false
		}
	}
	if r.twelve {
		r.hour %= 12
		if r.pm {
			r.hour += 12
		}
	}
	days := field.Days(r.y, max(min(r.m, 12), 1), r.d)
	if y, m, d := field.Civil(days); r.s != "" || y != r.y || m != r.m || d != r.d || r.hour > 23 || r.minute > 59 || r.second > 59 {
		return 0, false
	}
	return days*microsPerDay + ((r.hour*60+r.minute-r.offset)*60+r.second)*1e6 + r.micros, true
}

// field reads one part of a format, and reports whether it is there.
func (r *reading) field(c byte) (read bool) {
	switch c {
	case 'Y':
		r.y, read = r.number(4)
	case 'y':
		if r.y, read = r.number(2); r.y < 69 {
			r.y += 100
		}
		r.y += 1900
	case 'm':
		r.m, read = r.number(2)
	case 'd':
		r.d, read = r.number(2)
	case 'H':
		r.hour, read = r.number(2)
	case 'I':
		r.hour, read = r.number(2)
		r.twelve, read = true, read && r.hour >= 1 && r.hour <= 12
	case 'M':
		r.minute, read = r.number(2)
	case 'S':
		r.second, read = r.number(2)
	case 'f':
		before := len(r.s)
		r.micros, read = r.number(6)
		for range 6 - (before - len(r.s)) {
			r.micros *= 10
		}
	case 'p':
		if len(r.s) >= 2 && (strings.EqualFold(r.s[:2], "am") || strings.EqualFold(r.s[:2], "pm")) {
			r.pm, read = r.s[0]|0x20 == 'p', true
			r.s = r.s[2:]
		}
	case 'B':
		if r.m, read = r.word(month, 12, 0); read {
			r.m++
		}
	case 'b', 'h':
		if r.m, read = r.word(month, 12, 3); read {
			r.m++
		}
	case 'A':
		_, read = r.word(wday, 7, 0)
	case 'a':
		_, read = r.word(wday, 7, 3)
	case 'z':
		read = r.zone()
	case '%':
		if read = strings.HasPrefix(r.s, "%"); read {
			r.s = r.s[1:]
		}
	}
	return read
}

// zone reads Z, or an offset such as +02:00, +0200 or +02.
func (r *reading) zone() bool {
	if strings.HasPrefix(r.s, "Z") {
		r.s = r.s[1:]
		return true
	}
	if r.s == "" || r.s[0] != '+' && r.s[0] != '-' {
		return false
	}
	negative := r.s[0] == '-'
	r.s = r.s[1:]
	hours, read := r.number(2)
	minutes := int64(0)
	if read && strings.HasPrefix(r.s, ":") {
		r.s = r.s[1:]
		minutes, read = r.number(2)
	} else if len(r.s) > 0 && r.s[0] >= '0' && r.s[0] <= '9' {
		minutes, read = r.number(2)
	}
	if r.offset = hours*60 + minutes; negative {
		r.offset = -r.offset
	}
	return read
}
