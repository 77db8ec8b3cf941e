package eval

import (
	"fmt"
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
	t := moment{days: days, hour: micros / 3600e6, minute: micros / 60e6 % 60, second: micros / 1e6 % 60, micros: micros % 1e6}
	t.y, t.m, t.d = field.Civil(days)
	var b []byte
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b = append(b, format[i])
			continue
		}
		if i++; i == len(format) {
			return "", "the format ends with %"
		}
		width := 2
		if format[i] == '-' && i+1 < len(format) {
			i++
			width = 1
		}
		write := writers[format[i]]
		if write == nil {
			return "", fmt.Sprintf("a format of dates has no %%%c", format[i])
		}
		b = write(b, &t, width)
	}
	return string(b), ""
}

// moment is a date and a time of day.
type moment struct {
	days, y, m, d                int64
	hour, minute, second, micros int64
}

// writers write the parts of a format by their letter, numbers with at least so many digits: 2, or 1 behind a minus.
var writers = [256]func(b []byte, t *moment, width int) []byte{
	'Y': func(b []byte, t *moment, _ int) []byte { return fmt.Appendf(b, "%04d", t.y) },
	'y': func(b []byte, t *moment, w int) []byte { return digits(b, (t.y%100+100)%100, w) },
	'm': func(b []byte, t *moment, w int) []byte { return digits(b, t.m, w) },
	'd': func(b []byte, t *moment, w int) []byte { return digits(b, t.d, w) },
	'H': func(b []byte, t *moment, w int) []byte { return digits(b, t.hour, w) },
	'I': func(b []byte, t *moment, w int) []byte { return digits(b, (t.hour+11)%12+1, w) },
	'M': func(b []byte, t *moment, w int) []byte { return digits(b, t.minute, w) },
	'S': func(b []byte, t *moment, w int) []byte { return digits(b, t.second, w) },
	'f': func(b []byte, t *moment, _ int) []byte { return digits(b, t.micros, 6) },
	'g': func(b []byte, t *moment, _ int) []byte { return digits(b, t.micros/1000, 3) },
	'p': func(b []byte, t *moment, _ int) []byte { return append(b, "AMPM"[t.hour/12*2:t.hour/12*2+2]...) },
	'j': func(b []byte, t *moment, w int) []byte { return digits(b, t.yearday()+1, 2*w-1) },
	'A': func(b []byte, t *moment, _ int) []byte { return append(b, t.weekday().String()...) },
	'a': func(b []byte, t *moment, _ int) []byte { return append(b, t.weekday().String()[:3]...) },
	'B': func(b []byte, t *moment, _ int) []byte { return append(b, time.Month(t.m).String()...) },
	'b': shortMonth, 'h': shortMonth,
	'u': func(b []byte, t *moment, _ int) []byte { return digits(b, (weekday(t.days)+6)%7+1, 1) },
	'w': func(b []byte, t *moment, _ int) []byte { return digits(b, weekday(t.days), 1) },
	'G': func(b []byte, t *moment, _ int) []byte {
		year, _ := isoWeek(t.days)
		return fmt.Appendf(b, "%04d", year)
	},
	'V': func(b []byte, t *moment, _ int) []byte { _, week := isoWeek(t.days); return digits(b, week, 2) },
	// The first week of the year begins with its first Sunday, or Monday.
	'U': func(b []byte, t *moment, _ int) []byte { return digits(b, (t.yearday()+7-weekday(t.days))/7, 2) },
	'W': func(b []byte, t *moment, _ int) []byte { return digits(b, (t.yearday()+7-(weekday(t.days)+6)%7)/7, 2) },
	'x': func(b []byte, t *moment, _ int) []byte { return fmt.Appendf(b, "%04d-%02d-%02d", t.y, t.m, t.d) },
	'X': func(b []byte, t *moment, _ int) []byte {
		return fmt.Appendf(b, "%02d:%02d:%02d", t.hour, t.minute, t.second)
	},
	'c': func(b []byte, t *moment, _ int) []byte {
		return fmt.Appendf(b, "%04d-%02d-%02d %02d:%02d:%02d", t.y, t.m, t.d, t.hour, t.minute, t.second)
	},
	'%': func(b []byte, _ *moment, _ int) []byte { return append(b, '%') },
}

func shortMonth(b []byte, t *moment, _ int) []byte { return append(b, time.Month(t.m).String()[:3]...) }

// digits writes a number that is not negative.
func digits(b []byte, n int64, width int) []byte { return fmt.Appendf(b, "%0*d", width, n) }

// yearday returns how many days of the year are over.
func (t *moment) yearday() int64 { return t.days - field.Days(t.y, 1, 1) }

func (t *moment) weekday() time.Weekday { return time.Weekday(weekday(t.days)) }

// strptime reads dates in a format. A text that does not match the format fails the session; try_strptime returns NULL for it.
func strptime(try bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			if args[0].IsNull(i) || args[1].IsNull(i) {
				k.out.SetNull(i)
				continue
			}
			text, format := args[0].Texts[i], args[1].Texts[i]
			if k.dates == nil || k.dates.text != format {
				k.dates = newDateFormat(strings.Clone(format)) // that of a row is gone with the rows
			}
			if k.dates.bad != "" {
				return i, k.dates.bad
			}
			micros, is := k.dates.parse(text)
			switch {
			case is:
				k.out.Ints[i] = micros
			case try:
				k.out.SetNull(i)
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
	if read := readers[c]; read != nil {
		return read(r)
	}
	return false
}

// readers read the parts of a format by their letter.
var readers = [256]func(r *reading) bool{
	'Y': func(r *reading) bool { return r.within(&r.y, 4, 0, 9999) },
	'y': func(r *reading) bool {
		read := r.within(&r.y, 2, 0, 99)
		if r.y < 69 {
			r.y += 100
		}
		r.y += 1900
		return read
	},
	'G': func(r *reading) bool {
		y, read := r.number(4)
		if r.way == 'G' {
			r.y = y
		}
		return read
	},
	'j': func(r *reading) bool { return r.within(&r.yearday, 3, 1, 366) },
	'U': func(r *reading) bool { return r.within(&r.week, 2, 0, 53) },
	'W': func(r *reading) bool { return r.within(&r.week, 2, 0, 53) },
	'V': func(r *reading) bool { return r.within(&r.week, 2, 1, 53) },
	'w': func(r *reading) bool { return r.within(&r.wday, 1, 0, 6) },
	'u': func(r *reading) bool { return r.within(&r.isoday, 1, 1, 7) },
	'm': func(r *reading) bool { return r.within(&r.m, 2, 0, 99) },
	'd': func(r *reading) bool { return r.within(&r.d, 2, 0, 99) },
	'H': func(r *reading) bool { return r.within(&r.hour, 2, 0, 99) },
	'I': func(r *reading) bool { return r.within(&r.hour, 2, 1, 12) },
	'M': func(r *reading) bool { return r.within(&r.minute, 2, 0, 99) },
	'S': func(r *reading) bool { return r.within(&r.second, 2, 0, 99) },
	'f': func(r *reading) bool {
		before := len(r.s)
		read := r.within(&r.micros, 6, 0, 999_999)
		for range 6 - (before - len(r.s)) {
			r.micros *= 10
		}
		return read
	},
	'p': func(r *reading) bool {
		if len(r.s) < 2 || !strings.EqualFold(r.s[:2], "am") && !strings.EqualFold(r.s[:2], "pm") {
			return false
		}
		r.half, r.s = r.s[0]|0x20, r.s[2:]
		return true
	},
	'B': func(r *reading) bool { return r.monthName(0) },
	'b': func(r *reading) bool { return r.monthName(3) },
	'h': func(r *reading) bool { return r.monthName(3) },
	'A': func(r *reading) bool { _, read := r.word(wday, 7, 0); return read },
	'a': func(r *reading) bool { _, read := r.word(wday, 7, 3); return read },
	'z': (*reading).zone,
	'%': func(r *reading) bool {
		rest, read := strings.CutPrefix(r.s, "%")
		r.s = rest
		return read
	},
}

// within reads a number of at most so many digits, and reports whether it is there and within the bounds.
func (r *reading) within(to *int64, digits int, least, most int64) (read bool) {
	*to, read = r.number(digits)
	return read && *to >= least && *to <= most
}

// monthName reads the name of a month, or its first letters.
func (r *reading) monthName(letters int) (read bool) {
	if r.m, read = r.word(month, 12, letters); read {
		r.m++
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
