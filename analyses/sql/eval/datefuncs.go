package eval

import (
	"fmt"
	"math"
	"time"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
)

var dateKernels = map[string]kernel{
	"date_part":  func(k *function, args []*Vector, sel []int32) (int32, string) { return k.parts(k.unit, 1, args, sel) },
	"year":       part1("year"),
	"quarter":    part1("quarter"),
	"month":      part1("month"),
	"week":       part1("week"),
	"yearweek":   part1("yearweek"),
	"isoyear":    part1("isoyear"),
	"decade":     part1("decade"),
	"century":    part1("century"),
	"millennium": part1("millennium"),
	"era":        part1("era"),
	"julian":     julian,
	"last_day":   lastDay,
	"day":        part1("day"),
	"dayofweek":  part1("dow"),
	"isodow":     part1("isodow"),
	"dayofyear":  part1("doy"),
	"hour":       part1("hour"),
	"minute":     part1("minute"),
	"second":     part1("second"),
	"epoch":      part1("epoch"),
	"epoch_ms":   epochMillis,
	"epoch_us":   epochMicros,
	"dayname":    names(func(d int64) string { return time.Weekday(weekday(d)).String() }),
	"monthname":  names(func(d int64) string { _, m, _ := field.Civil(d); return time.Month(m).String() }),
	"date_trunc": dateTrunc,
	"date_diff":  dateDiff,
	"date_add": func(k *function, args []*Vector, sel []int32) (int32, string) {
		return k.addInterval(args, 0, 1, 1, sel)
	},
	"make_date":    makeDate,
	"time_bucket":  timeBucket,
	"strftime":     strftime,
	"strptime":     strptime(false),
	"try_strptime": strptime(true),
}

// day returns the day of a DATE or TIMESTAMP, and the microseconds since its midnight.
func (k *function) day(arg int, v *Vector, i int32) (days, micros int64) {
	if k.types[arg].Kind == types.Date {
		return v.Ints[i], 0
	}
	days = floorDiv(v.Ints[i], microsPerDay)
	return days, v.Ints[i] - days*microsPerDay
}

// weekday is 0 for Sunday.
func weekday(days int64) int64 { return ((days+4)%7 + 7) % 7 }

func part1(unit string) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) { return k.parts(unit, 0, args, sel) }
}

// parts computes a field of dates.
func (k *function) parts(unit string, arg int, args []*Vector, sel []int32) (int32, string) {
	v := args[arg]
	for _, i := range sel {
		days, micros := k.day(arg, v, i)
		if unit == "epoch" {
			k.out.Floats[i] = float64(days*86400) + float64(micros)/1e6
			if k.types[arg].Kind == types.Timestamp {
				k.out.Floats[i] = float64(v.Ints[i]) / 1e6
			}
			continue
		}
		k.out.Ints[i] = datePart(unit, days, micros)
	}
	return ok, ""
}

func datePart(unit string, days, micros int64) int64 {
	switch unit {
	case "hour":
		return micros / 3600e6
	case "minute":
		return micros / 60e6 % 60
	case "second":
		return micros / 1e6 % 60
	case "millisecond":
		return micros % 60e6 / 1000
	case "microsecond":
		return micros % 60e6
	case "dow":
		return weekday(days)
	case "isodow":
		return (weekday(days)+6)%7 + 1
	}
	y, m, d := field.Civil(days)
	switch unit {
	case "year":
		return y
	case "quarter":
		return (m + 2) / 3
	case "month":
		return m
	case "day":
		return d
	case "doy":
		return days - field.Days(y, 1, 1) + 1
	case "week":
		_, w := isoWeek(days)
		return w
	case "isoyear":
		y, _ := isoWeek(days)
		return y
	case "yearweek":
		y, w := isoWeek(days)
		if y <= 0 {
			w = -w
		}
		return y*100 + w
	case "era":
		if y > 0 {
			return 1
		}
		return 0
	case "decade":
		return y / 10
	case "century":
		if y > 0 {
			return (y-1)/100 + 1
		}
		return y/100 - 1
	}
	if y > 0 { // millennium
		return (y-1)/1000 + 1
	}
	return y/1000 - 1
}

// isoWeek returns the year and the week of ISO 8601: those of the Thursday in the same week.
func isoWeek(days int64) (year, week int64) {
	thursday := days - (weekday(days)+6)%7 + 3
	year, _, _ = field.Civil(thursday)
	return year, (thursday-field.Days(year, 1, 1))/7 + 1
}

// julian counts days from noon of -4713-11-24, and begins them at midnight, as DuckDB does.
func julian(k *function, args []*Vector, sel []int32) (int32, string) {
	const of1970 = 2440588
	for _, i := range sel {
		days, micros := k.day(0, args[0], i)
		k.out.Floats[i] = float64(micros)/microsPerDay + float64(days+of1970)
	}
	return ok, ""
}

func lastDay(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		days, _ := k.day(0, args[0], i)
		y, m, _ := field.Civil(days)
		k.out.Ints[i] = field.Days(y+m/12, m%12+1, 1) - 1
	}
	return ok, ""
}

// epochMillis is the milliseconds of a TIMESTAMP, or the TIMESTAMP of milliseconds.
func epochMillis(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		x := args[0].Ints[i]
		if k.types[0].Kind == types.Timestamp {
			k.out.Ints[i] = x / 1000
			continue
		}
		at, fits := multiply(x, 1000)
		if !fits {
			return i, outOfRange
		}
		k.out.Ints[i] = at
	}
	return ok, ""
}

func epochMicros(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		k.out.Ints[i] = args[0].Ints[i]
	}
	return ok, ""
}

func names(of func(days int64) string) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		for _, i := range sel {
			days, _ := k.day(0, args[0], i)
			k.out.Texts[i] = of(days)
		}
		return ok, ""
	}
}

// clockUnits are the units with a fixed number of microseconds.
var clockUnits = map[string]int64{"microsecond": 1, "millisecond": 1000, "second": 1e6, "epoch": 1e6, "minute": 60e6, "hour": 3600e6}

// start returns the first day of the unit that contains a day.
func start(unit string, days int64) int64 {
	y, m, _ := field.Civil(days)
	switch unit {
	case "week":
		return days - (weekday(days)+6)%7
	case "month":
		return field.Days(y, m, 1)
	case "quarter":
		return field.Days(y, m-(m-1)%3, 1)
	case "year":
		return field.Days(y, 1, 1)
	case "isoyear":
		iso, _ := isoWeek(days)
		return start("week", field.Days(iso, 1, 4))
	case "decade":
		return field.Days(y/10*10, 1, 1)
	case "century":
		return field.Days(y/100*100, 1, 1)
	case "millennium":
		return field.Days(y/1000*1000, 1, 1)
	}
	return days
}

func dateTrunc(k *function, args []*Vector, sel []int32) (int32, string) {
	x, out := args[1].Ints, k.out.Ints
	if step, is := clockUnits[k.unit]; is {
		for _, i := range sel {
			out[i] = floorDiv(x[i], step) * step
		}
		return ok, ""
	}
	for _, i := range sel {
		out[i] = start(k.unit, floorDiv(x[i], microsPerDay)) * microsPerDay
	}
	return ok, ""
}

// dateDiff counts the boundaries of a unit between two dates. For weeks it counts whole weeks between them, as DuckDB does.
func dateDiff(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		from, fromMicros := k.day(1, args[1], i)
		to, toMicros := k.day(2, args[2], i)
		if k.unit == "week" {
			k.out.Ints[i] = (to - from) / 7
			continue
		}
		k.out.Ints[i] = ordinal(k.unit, to, toMicros) - ordinal(k.unit, from, fromMicros)
	}
	return ok, ""
}

// ordinal returns the consecutive number of the unit that holds a time.
func ordinal(unit string, days, micros int64) int64 {
	if step, is := clockUnits[unit]; is {
		return floorDiv(days*microsPerDay+micros, step)
	}
	y, m, _ := field.Civil(days)
	switch unit {
	case "month":
		return y*12 + m
	case "quarter":
		return y*4 + (m-1)/3
	case "year":
		return y
	case "isoyear":
		iso, _ := isoWeek(days)
		return iso
	case "decade":
		return y / 10
	case "century":
		return y / 100
	case "millennium":
		return y / 1000
	}
	return days
}

const outOfRange = "the date is out of range"

// dateArithmetic returns + and - of dates and intervals, nil for others.
func dateArithmetic(e *plan.Apply) kernel {
	if len(e.Args) != 2 || e.Func != "+" && e.Func != "-" && e.Func != "*" {
		return nil
	}
	l, r := e.Args[0].Type().Kind, e.Args[1].Type().Kind
	if e.Func == "*" {
		switch {
		case l == types.Interval && r == types.BigInt:
			return func(k *function, args []*Vector, sel []int32) (int32, string) { return k.times(args[0], args[1], sel) }
		case l == types.BigInt && r == types.Interval:
			return func(k *function, args []*Vector, sel []int32) (int32, string) { return k.times(args[1], args[0], sel) }
		}
		return nil
	}
	sign := int64(1)
	if e.Func == "-" {
		sign = -1
	}
	switch {
	case l == types.Date && r == types.BigInt, l == types.BigInt && r == types.Date, l == types.Date && r == types.Date:
		return func(k *function, args []*Vector, sel []int32) (int32, string) { return k.addDays(args, sign, sel) }
	case r == types.Interval && (l == types.Date || l == types.Timestamp):
		return func(k *function, args []*Vector, sel []int32) (int32, string) {
			return k.addInterval(args, 0, 1, sign, sel)
		}
	case l == types.Interval && (r == types.Date || r == types.Timestamp):
		return func(k *function, args []*Vector, sel []int32) (int32, string) {
			return k.addInterval(args, 1, 0, sign, sel)
		}
	case l == types.Timestamp && r == types.Timestamp:
		return between
	case l == types.Interval && r == types.Interval:
		return func(k *function, args []*Vector, sel []int32) (int32, string) {
			return k.sumIntervals(args, sign, sel)
		}
	}
	return nil
}

// maxDays bounds days since 1970 and differences in days. Those beyond it are refused; DuckDB accepts some more.
const maxDays = 1 << 30

func (k *function) addDays(args []*Vector, sign int64, sel []int32) (int32, string) {
	x, y, out := args[0].Ints, args[1].Ints, k.out.Ints
	for _, i := range sel {
		if x[i] > maxDays || x[i] < -maxDays || y[i] > maxDays || y[i] < -maxDays {
			return i, outOfRange
		}
		out[i] = x[i] + sign*y[i]
	}
	return ok, ""
}

// addInterval adds first the months, then the days, then the time. If the resulting month is too short for the day, the day
// becomes the month's last.
func (k *function) addInterval(args []*Vector, date, interval int, sign int64, sel []int32) (int32, string) {
	for _, i := range sel {
		days, micros := k.day(date, args[date], i)
		by := args[interval].Intervals[i]
		if by.Months != 0 {
			y, m, d := field.Civil(days)
			m += sign*int64(by.Months) - 1
			y, m = y+floorDiv(m, 12), m-floorDiv(m, 12)*12+1
			if y > 1e6 || y < -1e6 {
				return i, outOfRange
			}
			first, next := field.Days(y, m, 1), field.Days(y+m/12, m%12+1, 1)
			days = first + min(d, next-first) - 1
		}
		days += sign * int64(by.Days)
		if days > maxDays || days < -maxDays {
			return i, outOfRange
		}
		at, fits := multiply(days, microsPerDay)
		if !fits {
			return i, outOfRange
		}
		sum := at + micros + sign*by.Micros
		if by.Micros > math.MaxInt64/4 || by.Micros < -math.MaxInt64/4 || at > math.MaxInt64/2 || at < -math.MaxInt64/2 {
			return i, outOfRange
		}
		k.out.Ints[i] = sum
	}
	return ok, ""
}

// between returns the difference of two timestamps, as days and time.
func between(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		x, y := args[0].Ints[i], args[1].Ints[i]
		d := x - y
		if (x^y)&(x^d) < 0 {
			return i, outOfRange
		}
		k.out.Intervals[i] = plan.Interval{Days: int32(d / microsPerDay), Micros: d % microsPerDay}
	}
	return ok, ""
}

func makeDate(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		y, m, d := args[0].Ints[i], args[1].Ints[i], args[2].Ints[i]
		if y < -100000 || y > 100000 || m < 1 || m > 12 || d < 1 || d > 31 {
			return i, fmt.Sprintf("there is no day %d-%d-%d", y, m, d)
		}
		days := field.Days(y, m, d)
		if gy, gm, gd := field.Civil(days); gy != y || gm != m || gd != d {
			return i, fmt.Sprintf("there is no day %d-%d-%d", y, m, d)
		}
		k.out.Ints[i] = days
	}
	return ok, ""
}

// timeBucket counts buckets from 2000-01-03, a Monday, and buckets of months from 2000-01-01, as DuckDB does.
func timeBucket(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		by := args[0].Intervals[i]
		days, micros := k.day(1, args[1], i)
		width := int64(by.Days)*microsPerDay + by.Micros
		var at int64
		switch {
		case by.Months > 0 && width == 0:
			y, m, _ := field.Civil(days)
			months := floorDiv((y-2000)*12+m-1, int64(by.Months)) * int64(by.Months)
			at = field.Days(2000+floorDiv(months, 12), months-floorDiv(months, 12)*12+1, 1) * microsPerDay
		case by.Months == 0 && width > 0:
			origin := int64(10959 * microsPerDay)
			at = floorDiv(days*microsPerDay+micros-origin, width)*width + origin
		default:
			return i, "the length of a stretch is above 0, and either months or days and time"
		}
		if k.types[1].Kind == types.Date {
			at = floorDiv(at, microsPerDay)
		}
		k.out.Ints[i] = at
	}
	return ok, ""
}

// times multiplies months, days and the time of an INTERVAL separately.
func (k *function) times(interval, n *Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		x, n := interval.Intervals[i], n.Ints[i]
		months, ok1 := multiply(int64(x.Months), n)
		days, ok2 := multiply(int64(x.Days), n)
		micros, ok3 := multiply(x.Micros, n)
		if !ok1 || !ok2 || !ok3 || int64(int32(months)) != months || int64(int32(days)) != days {
			return i, outOfRange
		}
		k.out.Intervals[i] = plan.Interval{Months: int32(months), Days: int32(days), Micros: micros}
	}
	return ok, ""
}

// sumIntervals adds months, days and the time separately.
func (k *function) sumIntervals(args []*Vector, sign int64, sel []int32) (int32, string) {
	for _, i := range sel {
		x, y := args[0].Intervals[i], args[1].Intervals[i]
		months, days, by := int64(x.Months)+sign*int64(y.Months), int64(x.Days)+sign*int64(y.Days), sign*y.Micros
		micros := x.Micros + by
		if int64(int32(months)) != months || int64(int32(days)) != days || sign < 0 && y.Micros == math.MinInt64 ||
			(by > 0) != (micros > x.Micros) && by != 0 {
			return i, outOfRange
		}
		k.out.Intervals[i] = plan.Interval{Months: int32(months), Days: int32(days), Micros: micros}
	}
	return ok, ""
}
