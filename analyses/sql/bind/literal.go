package bind

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
)

const microsPerDay = 24 * 60 * 60 * 1_000_000

// parseLiteral parses a text as a value of type t. It returns false if the text is not one.
func parseLiteral(s string, t types.Type) (any, bool) {
	s = strings.TrimSpace(s)
	switch t.Kind {
	case types.Bool:
		switch strings.ToLower(s) {
		case "true", "t", "1", "yes", "y":
			return true, true
		case "false", "f", "0", "no", "n":
			return false, true
		}
	case types.BigInt:
		v, err := strconv.ParseInt(s, 10, 64)
		return v, err == nil
	case types.Double:
		v, err := strconv.ParseFloat(s, 64)
		return v, err == nil && !strings.ContainsAny(s, "xXpP_")
	case types.Decimal:
		return parseDecimal(s, t)
	case types.Date:
		d, err := time.Parse("2006-1-2", s)
		if err != nil {
			return nil, false
		}
		return d.Unix() / 86400, true
	case types.Timestamp:
		return parseTimestamp(s)
	case types.Interval:
		return ParseInterval(s)
	}
	return nil, false
}

// parseDecimal reads a number and rounds it to the digits of t, half away from zero.
func parseDecimal(s string, t types.Type) (any, bool) {
	if s == "" || strings.Trim(s, "+-.0123456789eE") != "" || len(s) > 100 {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if n, err := strconv.Atoi(s[i+1:]); err != nil || n > 1000 || n < -1000 {
			return nil, false
		}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, false
	}
	r.Mul(r, new(big.Rat).SetInt(pow10(int(t.Scale))))
	half := big.NewRat(1, 2)
	if r.Sign() < 0 {
		half.Neg(half)
	}
	r.Add(r, half)
	v := new(big.Int).Quo(r.Num(), r.Denom())
	if v.CmpAbs(pow10(int(t.Precision))) >= 0 {
		return nil, false
	}
	return v.Int64(), true
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// parseTimestamp reads a date with an optional time and an optional offset, which is converted to UTC. It takes what a cast takes, and
// hours of one digit.
func parseTimestamp(s string) (any, bool) {
	if v, ok := field.LooseTimestamp([]byte(s)); ok {
		return v, true
	}
	date, clock, has := strings.Cut(strings.Replace(s, "T", " ", 1), " ")
	d, err := time.Parse("2006-1-2", date)
	if err != nil {
		return nil, false
	}
	micros := d.Unix() / 86400 * microsPerDay
	if !has {
		return micros, true
	}
	clock = strings.TrimSpace(clock)
	for _, layout := range []string{"15:04:05.999999", "15:04:05.999999Z07:00", "15:04:05.999999Z07", "15:04", "15:04Z07:00"} {
		if c, err := time.Parse(layout, clock); err == nil {
			_, offset := c.Zone()
			return micros + (int64(c.Hour())*3600+int64(c.Minute())*60+int64(c.Second())-int64(offset))*1e6 + int64(c.Nanosecond())/1000, true
		}
	}
	return nil, false
}

// unit has the length of each unit.
var unit = map[string]Interval{
	"microsecond": {0, 0, 1}, "us": {0, 0, 1}, "millisecond": {0, 0, 1000}, "ms": {0, 0, 1000}, "second": {0, 0, 1e6}, "sec": {0, 0, 1e6},
	"s": {0, 0, 1e6}, "minute": {0, 0, 60e6}, "min": {0, 0, 60e6}, "m": {0, 0, 60e6},
	"hour": {0, 0, 3600e6}, "h": {0, 0, 3600e6}, "day": {0, 1, 0}, "d": {0, 1, 0}, "week": {0, 7, 0}, "w": {0, 7, 0}, "month": {1, 0, 0},
	"mon": {1, 0, 0}, "quarter": {3, 0, 0}, "year": {12, 0, 0}, "y": {12, 0, 0},
	"decade": {120, 0, 0}, "century": {1200, 0, 0}, "centurie": {1200, 0, 0}, "millennium": {12000, 0, 0}, "millennia": {12000, 0, 0},
}

// ParseInterval reads '1 day 2 hours' and '1 day 03:04:05'. It takes whole numbers only; a time of day may have a fraction.
func ParseInterval(s string) (total Interval, ok bool) {
	words := strings.Fields(strings.ToLower(s))
	for i := 0; i < len(words); i++ {
		if strings.Contains(words[i], ":") {
			c, err := time.Parse("15:04:05.999999", words[i])
			if err != nil {
				return Interval{}, false
			}
			total.Micros += int64(c.Hour())*3600e6 + int64(c.Minute())*60e6 + int64(c.Second())*1e6 + int64(c.Nanosecond())/1000
			continue
		}
		n, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil || i+1 >= len(words) {
			return Interval{}, false
		}
		i++
		u, known := unit[strings.TrimSuffix(words[i], "s")]
		if !known {
			u, known = unit[words[i]]
		}
		if !known || !total.add(u, n) {
			return Interval{}, false
		}
	}
	return total, len(words) > 0
}

// add adds n units, and says whether the sum is in range.
func (t *Interval) add(u Interval, n int64) bool {
	const most = math.MaxInt32
	if n > most*1000 || n < -most*1000 {
		return false
	}
	months, days := int64(t.Months)+n*int64(u.Months), int64(t.Days)+n*int64(u.Days)
	if months > most || months < -most || days > most || days < -most || u.Micros != 0 &&
		(n > math.MaxInt64/2/u.Micros || n < -math.MaxInt64/2/u.Micros) {
		return false
	}
	t.Months, t.Days = int32(months), int32(days)
	t.Micros += n * u.Micros
	return t.Micros < math.MaxInt64/2 && t.Micros > -math.MaxInt64/2
}

// number returns the value of a number as it is written, with its sign.
func number(text string, negative bool) (any, types.Type, error) {
	signed := text
	if negative {
		signed = "-" + text
	}
	if negative && text == "9223372036854775808" {
		return int64(math.MinInt64), types.Of(types.BigInt), nil
	}
	t, err := types.Number(text)
	if err != nil {
		return nil, t, err
	}
	v, ok := parseLiteral(signed, t)
	if !ok {
		return nil, t, fmt.Errorf("the number %s is out of range", signed)
	}
	return v, t, nil
}
