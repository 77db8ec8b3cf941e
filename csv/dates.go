package csv

import "encoding/binary"

// ParseDate reads "YYYY-MM-DD" as days since 1970-01-01. It accepts exactly what time.Parse does for "2006-01-02": the years
// 0000 to 9999 and days that exist.
func ParseDate(p []byte) (days int64, ok bool) {
	if len(p) != 10 {
		return 0, false
	}
	// "YYYY-MM-" and "YY-MM-DD": the second word has what the first has not.
	first, second := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[2:])
	first ^= 0x2d30302d30303030
	second ^= 0x30302d30302d3030
	// A byte is a digit's value, or 0 for a dash that is where it must be; adding 0x76 (0x7f for dashes) sets the high bit
	// of what is more than that.
	bad := first + 0x7f76767f76767676 | first
	bad |= second + 0x76767f76767f7676 | second
	if bad&highs != 0 {
		return 0, false
	}
	year := int(first&15)*1000 + int(first>>8&15)*100 + int(first>>16&15)*10 + int(first>>24&15)
	month := int(first>>40&15)*10 + int(first>>48&15)
	day := int(second>>48&15)*10 + int(second>>56&15)
	return civil(year, month, day)
}

// ParseDateTime reads "YYYY-MM-DD HH:MM:SS" as seconds since 1970-01-01 00:00:00, without time zone or leap seconds. What it
// accepts time.Parse accepts too; that also takes fractions of seconds and hours of one digit.
func ParseDateTime(p []byte) (seconds int64, ok bool) {
	if len(p) != 19 || p[10] != ' ' {
		return 0, false
	}
	days, ok := ParseDate(p[:10])
	w := binary.LittleEndian.Uint64(p[11:]) ^ 0x30303a30303a3030
	if bad := w + 0x76767f76767f7676 | w; !ok || bad&highs != 0 {
		return 0, false
	}
	hour := int64(w&15)*10 + int64(w>>8&15)
	minute := int64(w>>24&15)*10 + int64(w>>32&15)
	second := int64(w>>48&15)*10 + int64(w>>56&15)
	if hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return days*86400 + hour*3600 + minute*60 + second, true
}

// FormatDate appends a day of the years 0000 to 9999 as "YYYY-MM-DD".
func FormatDate(dst []byte, days int64) []byte {
	// Counted from 0000-03-01, years end with the leap day, and 400 of them always have the same number of days.
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

// daysBefore is how many days of a year are before a month, February having 28; daysOf how many the month has. They have
// sixteen entries so that four bits need no check.
var (
	daysBefore = [16]int16{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}
	daysOf     = [16]int8{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
)

// civil counts days in the Gregorian calendar, extended to the past as package time does.
func civil(year, month, day int) (days int64, ok bool) {
	if month > 12 {
		return 0, false
	}
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	most := int(daysOf[month&15])
	if leap && month == 2 {
		most = 29
	}
	if day < 1 || day > most {
		return 0, false
	}
	// Leap days up to the end of the year before, or of this year once February is over.
	y := year - 1
	if month > 2 {
		y = year
	}
	leaps := floorDiv4(y) - floorDiv100(y) + floorDiv400(y)
	return int64(365*year + leaps + int(daysBefore[month&15]) + day - 719528), true
}

// Years start at 0, so the year before may be -1, which all of these round to -1: it cancels out to one leap day less.
func floorDiv4(y int) int { return y >> 2 }

func floorDiv100(y int) int { return (y+100)/100 - 1 }

func floorDiv400(y int) int { return (y+400)/400 - 1 }
