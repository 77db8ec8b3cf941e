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
		case 'U', 'W': // the first week of the year begins with its first Sunday, or Monday
			first := weekday(days)
			if c == 'W' {
				first = (first + 6) % 7
			}
			b = fmt.Appendf(b, "%02d", (days-field.Days(y, 1, 1)+7-first)/7)
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
			if k.dates == nil || k.dates.text != format {
				k.dates = newDateFormat(format)
			}
			if k.dates.bad != "" {
				return i, k.dates.bad
			}
			micros, is := k.dates.parse(text)
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
	way, half                     byte  // the format's way; and the half of the day, a or p, 0 if it is not said
	yearday, week, wday, isoday   int64 // wday is 0 for Sunday, isoday is 1 for Monday
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

// dateFormat is a format that strptime reads.
type dateFormat struct {
	text string
	way  byte   // that gives the day: j its number in the year, U or W its week, G its week of ISO 8601; 0: month and day
	bad  string // what is wrong with the format; "" if nothing is
}

// newDateFormat looks at a format. Beside %m or %d no other way to give the day counts, as in DuckDB. A format with two of the others is a
// mistake.
func newDateFormat(text string) *dateFormat {
	f := &dateFormat{text: text}
	year, plain, ways := false, false, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			continue
		}
		if i++; i < len(text) && text[i] == '-' {
			i++
		}
		if i >= len(text) {
			f.bad = "the format ends with %"
			return f
		}
		way := byte(0)
		switch c := text[i]; c {
		case 'Y', 'y':
			year = true
		case 'm', 'd':
			plain = true
		case 'j', 'U', 'W', 'G':
			way = c
		case 'V':
			way = 'G'
		default:
			if !strings.Contains("HIMSfpBbhAazuw%", text[i:i+1]) {
				f.bad = fmt.Sprintf("a format of dates has no %%%c", c)
				return f
			}
		}
		if way != 0 && way != f.way {
			f.way = way
			ways++
		}
	}
	switch {
	case plain:
		f.way = 0
	case ways > 1, year && f.way == 'G':
		f.bad = "a format of dates gives the day by %m and %d, by %Y and one of %j, %U and %W, or by %G and %V"
	}
	return f
}

// parse reads a timestamp. It returns false if the text does not have the format, which is not bad.
func (f *dateFormat) parse(s string) (micros int64, ok bool) {
	format := f.text
	r := &reading{s: strings.Trim(s, blanks), way: f.way, y: 1900, m: 1, d: 1, yearday: 1, week: 1, isoday: 1}
	if r.way == 'W' {
		r.wday = 1
	}
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' {
			if r.s == "" || r.s[0] != c && !(isBlank(c) && isBlank(r.s[0])) {
				return 0, false
			}
			if r.s = r.s[1:]; isBlank(c) { // blanks stand for blanks, whatever their numbers are
				r.s = strings.TrimLeft(r.s, blanks)
				for i+1 < len(format) && isBlank(format[i+1]) {
					i++
				}
			}
			continue
		}
		if i++; format[i] == '-' {
			i++
		}
		if !r.field(format[i]) {
			return 0, false
		}
	}
	if r.half != 0 {
		if r.hour > 12 {
			return 0, false
		}
		if r.hour %= 12; r.half == 'p' {
			r.hour += 12
		}
	}
	days, is := r.day()
	if !is || r.s != "" || r.hour > 23 || r.minute > 59 || r.second > 59 {
		return 0, false
	}
	return days*microsPerDay + ((r.hour*60+r.minute-r.offset)*60+r.second)*1e6 + r.micros, true
}

const blanks = " \t\n\v\f\r"

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

// day returns the day that was read.
func (r *reading) day() (days int64, is bool) {
	first := field.Days(r.y, 1, 1)
	switch r.way {
	case 'j':
		return first + r.yearday - 1, true
	case 'U': // week 1 begins with the first Sunday
		return first + (7-weekday(first))%7 + 7*(r.week-1) + r.wday, true
	case 'W': // week 1 begins with the first Monday
		return first + (8-weekday(first))%7 + 7*(r.week-1) + (r.wday+6)%7, true
	case 'G':
		return start("week", field.Days(r.y, 1, 4)) + 7*(r.week-1) + r.isoday - 1, true
	}
	days = field.Days(r.y, max(min(r.m, 12), 1), r.d)
	y, m, d := field.Civil(days)
	return days, y == r.y && m == r.m && d == r.d
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
	case 'G':
		y, is := r.number(4)
		if read = is; r.way == 'G' {
			r.y = y
		}
	case 'j':
		r.yearday, read = r.number(3)
		read = read && r.yearday >= 1 && r.yearday <= 366
	case 'U', 'W', 'V':
		r.week, read = r.number(2)
		read = read && r.week <= 53 && (c != 'V' || r.week >= 1)
	case 'w':
		r.wday, read = r.number(1)
		read = read && r.wday <= 6
	case 'u':
		r.isoday, read = r.number(1)
		read = read && r.isoday >= 1 && r.isoday <= 7
	case 'm':
		r.m, read = r.number(2)
	case 'd':
		r.d, read = r.number(2)
	case 'H':
		r.hour, read = r.number(2)
	case 'I':
		r.hour, read = r.number(2)
		read = read && r.hour >= 1 && r.hour <= 12
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
			r.half, read = r.s[0]|0x20, true
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
