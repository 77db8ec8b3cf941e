package csv

import "encoding/binary"

// ParseDate reads "YYYY-MM-DD" as days since 1970-01-01. It accepts exactly what time.Parse does for "2006-01-02": the years
// 0000 to 9999 and days that exist.
func ParseDate(p []byte) (days int64, ok bool) {
	if len(p) != 10 {
		return 0, false
	}
	// "YYYY-MM-" and "YY-MM-DD": the second word has the bytes that the first one lacks.
	first, second := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[2:])
	first ^= 0x2d30302d30303030
	second ^= 0x30302d30302d3030
	// A byte is now a digit's value, or 0 for a dash in its place. Adding 0x76 (0x7f for dashes) sets the high bit of every
	// greater byte.
	bad := first + 0x7f76767f76767676 | first
	bad |= second + 0x76767f76767f7676 | second
	if bad&highs != 0 {
		return 0, false
	}
	// Each byte becomes ten times itself plus the next one, at most 99: the number of two digits.
	first, second = first*10+first>>8, second*10+second>>8
	return civil(int(first&0xff), int(first>>16&0xff), int(first>>40&0xff), int(second>>48&0xff))
}

// ParseDateTime reads "YYYY-MM-DD HH:MM:SS" as seconds since 1970-01-01 00:00:00, without time zone or leap seconds.
// time.Parse accepts everything that it accepts, and also fractions of seconds and hours of one digit.
func ParseDateTime(p []byte) (seconds int64, ok bool) {
	if len(p) != 19 || p[10] != ' ' {
		return 0, false
	}
	days, ok := ParseDate(p[:10])
	w := binary.LittleEndian.Uint64(p[11:]) ^ 0x30303a30303a3030
	if bad := w + 0x76767f76767f7676 | w; !ok || bad&highs != 0 {
		return 0, false
	}
	w = w*10 + w>>8
	hour, minute, second := int64(w&0xff), int64(w>>24&0xff), int64(w>>48&0xff)
	if hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return days*86400 + hour*3600 + minute*60 + second, true
}

// FormatDate appends a day of the years 0000 to 9999 as "YYYY-MM-DD".
func FormatDate(dst []byte, days int64) []byte {
	// Counted from 0000-03-01, years end with the leap day, and each 400 years have the same number of days.
	d := int(days + daysTo1970)
	era := d / daysIn400
	if d < 0 {
		era--
	}
	d -= era * daysIn400
	year := (d - d/1460 + d/36524 - d/146096) / 365
	d -= 365*year + year/4 - year/100
	month := (5*d + 2) / 153
	day := d - (153*month+2)/5 + 1
	year += 400 * era
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	return append(dst, digit(year/1000), digit(year/100), digit(year/10), digit(year), '-',
		digit(month/10), digit(month), '-', digit(day/10), digit(day))
}

func digit(n int) byte { return '0' + byte(n%10) }

const (
	daysIn400  = 146097
	daysTo1970 = 719468 // from 0000-03-01
)

// daysBefore is how many days of a year come before a month, with 28 in February. daysOf is how many days the month can have.
// They have sixteen entries, so that an index of four bits needs no check.
var (
	daysBefore = [16]int16{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}
	daysOf     = [16]int8{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
)

// civil counts days from 1970-01-01 in the Gregorian calendar, extended to the past as package time does. The year comes in two
// parts, the century and the year within it. The leap rule needs both, so no division is needed.
func civil(century, yearOf, month, day int) (days int64, ok bool) {
	if month > 12 || day < 1 || day > int(daysOf[month&15]) {
		return 0, false
	}
	year := 100*century + yearOf
	leaps := year>>2 - century + century>>2 + 1 // from year 0 to this one
	if month <= 2 {
		leap := yearOf&3 == 0 && (yearOf != 0 || century&3 == 0)
		if month == 2 && day == 29 && !leap {
			return 0, false
		}
		if leap {
			leaps-- // this year's leap day is yet to come
		}
	}
	return int64(365*year + leaps + int(daysBefore[month&15]) + day - 1 - daysBefore1970), true
}

const daysBefore1970 = 719528 // from 0000-01-01
