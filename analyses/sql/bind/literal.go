package bind

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/plan"
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
		return plan.ParseInterval(s)
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
