package eval

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

const microsPerDay = 24 * 60 * 60 * 1_000_000

// cast converts values of one type to another. With TRY_CAST, a value without a counterpart becomes NULL.
type cast struct {
	x        node
	from, to types.Type
	try      bool
	min, max int64 // bounds of the result, if it is a number
	time     bool  // the result is a TIME, in a TEXT
	at       syntax.Pos
	made     *account
	out      Vector
	one      []byte // the bytes of a text that is read or written
}

func (c *compiler) cast(e *plan.Cast, out Vector) (node, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	k := &cast{x: x, from: e.X.Type(), to: e.T, try: e.Try, min: math.MinInt64, max: math.MaxInt64, at: e.At, made: c.of, out: out}
	if e.Range != nil {
		k.min, k.max, k.time = e.Range.Min, e.Range.Max, e.Range.Time
	}
	if e.T.Kind == types.Decimal {
		k.max = field.Powers[e.T.Precision] - 1
		k.min = -k.max
	}
	return k, nil
}

func (k *cast) eval(b *batch, sel []int32) (*Vector, error) {
	x, err := k.x.eval(b, sel)
	if err != nil {
		return nil, err
	}
	if k.same(x, sel) {
		return x, nil
	}
	k.out.reset(b.n)
	k.out.nullsOf(x)
	if k.widened(x, sel) {
		return &k.out, nil
	}
	bad := int32(-1)
	for _, i := range sel {
		switch {
		case k.out.IsNull(i):
		case k.from.Kind == types.TextList && k.to.Kind == types.Text:
			if err := k.list(x, i); err != nil {
				return nil, err
			}
		case k.from.Kind == types.Null:
			k.out.SetNull(i)
		case k.convert(x, i):
		case k.try:
			k.out.SetNull(i)
		case bad < 0:
			bad = i
		}
	}
	if bad >= 0 {
		return nil, &Error{k.at, bad, fmt.Sprintf("%s %s cannot be converted to %s: TRY_CAST gives NULL instead", k.from, show(x, bad, k.from),
			k.target())}
	}
	return &k.out, nil
}

// same reports whether a DECIMAL keeps its digits: 1 - l_discount makes DECIMAL(18, 2) of DECIMAL(15, 2).
func (k *cast) same(x *Vector, sel []int32) bool {
	if k.from.Kind != types.Decimal || k.to.Kind != types.Decimal || k.from.Scale != k.to.Scale {
		return false
	}
	odd := int64(0)
	for _, i := range sel {
		odd |= (k.max + x.Ints[i]) | (k.max - x.Ints[i]) // negative if it has too many digits
	}
	return odd >= 0
}

// widened gives numbers more digits after the point. It returns false if that is not what the cast does, or if a result may not fit;
// then the values have to be converted one by one.
func (k *cast) widened(x *Vector, sel []int32) bool {
	if k.from.Kind != types.Decimal && k.from.Kind != types.BigInt || k.to.Kind != types.Decimal || k.to.Scale < k.from.Scale {
		return false
	}
	power := field.Powers[k.to.Scale-k.from.Scale]
	limit, out := k.max/power, k.out.Ints
	for _, i := range sel {
		v := x.Ints[i]
		if v > limit || v < -limit {
			return false
		}
		out[i] = v * power
	}
	return true
}

// target names the type that a value is converted to. The smaller integers are BIGINT here, so their range says more than
// their type.
func (k *cast) target() string {
	if k.time {
		return "TIME"
	}
	if k.to.Kind == types.BigInt && k.max != math.MaxInt64 {
		return fmt.Sprintf("an integer from %d to %d", k.min, k.max)
	}
	return k.to.String()
}

// show returns a value as an error quotes it. Long texts are cut.
func show(v *Vector, row int32, t types.Type) string {
	s := string(appendText(nil, v, row, t, 60))
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	if t.Kind == types.Text {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// list makes a text of a list.
func (k *cast) list(x *Vector, i int32) error {
	k.one = appendText(k.one[:0], x, i, k.from, MaxText)
	switch k.out.Texts[i] = ""; {
	case len(k.one) > MaxText:
		return &Error{k.at, i, fmt.Sprintf("a list would become a text of more than %d bytes (%d MiB), which is the most that a text may have",
			MaxText, MaxText>>20)}
	case k.made.ask(len(k.one)):
		k.out.Texts[i] = string(k.one)
		return nil
	case k.made.rows > 1:
		return &Full{i}
	}
	return &Error{k.at, i, fmt.Sprintf(
		"the text of a list takes %d bytes more, and the values that are made of one row have at most %d MiB together%s", len(k.one),
		k.made.meter.most(1)>>20, k.made.meter.within())}
}

// convert converts one value; it returns false if the value has no counterpart. It switches on the type for each row, because
// reading or writing the value costs more than that.
func (k *cast) convert(x *Vector, i int32) (ok bool) {
	switch k.to.Kind {
	case types.Text:
		if k.time {
			return k.timeOfDay(x, i)
		}
		if k.from.Kind == types.Text {
			k.out.Texts[i] = x.Texts[i]
			return true
		}
		k.one = AppendText(k.one[:0], x, i, k.from)
		k.out.Texts[i] = string(k.one)
		return true
	case types.Double:
		k.out.Floats[i], ok = k.double(x, i)
		return ok
	case types.Bool:
		k.out.Bools[i], ok = k.bool(x, i)
		return ok
	case types.Interval:
		if k.from.Kind == types.Text {
			k.out.Intervals[i], ok = plan.ParseInterval(x.Texts[i])
			return ok
		}
		k.out.Intervals[i] = x.Intervals[i]
		return true
	case types.TextList:
		k.out.Lists[i] = x.Lists[i]
		return true
	case types.BigInt, types.Decimal:
		v, ok := k.number(x, i)
		k.out.Ints[i] = v
		return ok && v >= k.min && v <= k.max
	}
	k.out.Ints[i], ok = k.date(x, i)
	return ok
}

// timeOfDay writes the time of a TIMESTAMP or a TEXT.
func (k *cast) timeOfDay(x *Vector, i int32) bool {
	var micros int64
	if k.from.Kind == types.Timestamp {
		micros = x.Ints[i] - floorDiv(x.Ints[i], microsPerDay)*microsPerDay
	} else {
		var ok bool
		if micros, ok = field.Time(k.text(x, i)); !ok {
			return false
		}
	}
	k.one = field.AppendTime(k.one[:0], micros)
	k.out.Texts[i] = string(k.one)
	return true
}

func (k *cast) double(x *Vector, i int32) (float64, bool) {
	switch k.from.Kind {
	case types.Text:
		return field.Double(k.text(x, i))
	case types.Double:
		return x.Floats[i], true
	case types.Bool:
		return float64(truth(x.Bools[i])), true
	case types.Decimal:
		return doubleOf(x.Ints[i], k.from.Scale), true
	}
	return float64(x.Ints[i]), true
}

// doubleOf converts a DECIMAL to a DOUBLE as DuckDB does: by one division if all digits fit into a DOUBLE, else the whole
// part and the fraction separately.
func doubleOf(v int64, scale uint8) float64 {
	power := field.Powers[scale]
	if v <= 1<<53 && v >= -1<<53 || scale == 0 {
		return float64(v) / float64(power)
	}
	fraction := float64(v%power) / float64(power)
	return float64(v/power) + fraction
}

func (k *cast) bool(x *Vector, i int32) (v, ok bool) {
	switch k.from.Kind {
	case types.Text:
		return field.Bool(k.text(x, i))
	case types.Double:
		return x.Floats[i] != 0, true
	case types.Bool:
		return x.Bools[i], true
	}
	return x.Ints[i] != 0, true
}

// number returns a BIGINT, or the digits of a DECIMAL. A number below 0 is not rounded to an unsigned 0.
func (k *cast) number(x *Vector, i int32) (int64, bool) {
	switch k.from.Kind {
	case types.Text:
		p := k.text(x, i)
		v, ok := k.written(p)
		return v, ok && (v != 0 || k.min != 0 || !bytes.HasPrefix(bytes.TrimSpace(p), []byte("-")) || !bytes.ContainsAny(p, "123456789"))
	case types.Double:
		return k.digits(x.Floats[i])
	case types.Bool:
		return multiply(truth(x.Bools[i]), field.Powers[k.to.Scale])
	}
	return rescale(x.Ints[i], k.from.Scale, k.to.Scale)
}

// written reads a text as a BIGINT, or as the digits of a DECIMAL.
func (k *cast) written(p []byte) (int64, bool) {
	if k.to.Kind == types.BigInt {
		if v, ok := field.BigInt(p); ok {
			return v, true
		}
	}
	if v, ok := field.Decimal(p, types.DecimalOf(types.MaxPrecision, int(k.to.Scale))); ok {
		return v, true
	}
	return exactly(p, int(k.to.Scale))
}

// exactly reads a number with any digits and with an exponent, as digits of a DECIMAL or as a BIGINT, rounded half away from zero. A DOUBLE
// between would round twice.
func exactly(p []byte, scale int) (int64, bool) {
	if _, ok := field.Double(p); !ok {
		return 0, false
	}
	p = bytes.TrimSpace(p)
	negative := p[0] == '-'
	number, exponent := bytes.TrimLeft(p, "+-"), 0
	if number[0] > '9' {
		return 0, false // inf, nan
	}
	if at := bytes.IndexAny(number, "eE"); at >= 0 {
		exponent, _ = strconv.Atoi(string(number[at+1:])) // what is out of range becomes the greatest int, or the least
		number, exponent = number[:at], min(max(exponent, math.MinInt32), math.MaxInt32)
	}
	whole, fraction, _ := bytes.Cut(number, []byte("."))
	digits, most := slices.Concat(whole, fraction), uint64(math.MaxInt64)
	if negative {
		most++
	}
	count, v := len(whole)+exponent+scale, uint64(0) // so many digits count, zeros behind the last one included
	for i := range max(count, 0) {
		if v == 0 && i >= len(digits) {
			break
		}
		if v > most/10 {
			return 0, false
		}
		if v *= 10; i < len(digits) {
			v += uint64(digits[i] - '0')
		}
	}
	if 0 <= count && count < len(digits) && digits[count] >= '5' {
		v++
	}
	if negative {
		return -int64(v), v <= most
	}
	return int64(v), v <= most
}

// digits converts a DOUBLE to a BIGINT, rounded half to even, or to the digits of a DECIMAL, rounded half away from zero. A number below 0
// is not rounded to an unsigned 0.
func (k *cast) digits(v float64) (int64, bool) {
	r := math.RoundToEven(v)
	if k.to.Kind == types.Decimal {
		r = math.Round(v * float64(field.Powers[k.to.Scale]))
	}
	if !(r >= -0x1p63 && r < 0x1p63) || v < 0 && k.min == 0 {
		return 0, false
	}
	return int64(r), true
}

func (k *cast) date(x *Vector, i int32) (int64, bool) {
	switch from, to := k.from.Kind, k.to.Kind; {
	case from == types.Text && to == types.Date:
		p := k.text(x, i)
		if v, ok := field.Date(p); ok {
			return v, true
		}
		return field.LooseDate(p)
	case from == types.Text:
		p := k.text(x, i)
		if v, ok := field.Timestamp(p); ok {
			return v, true
		}
		return field.LooseTimestamp(p)
	case from == to:
		return x.Ints[i], true
	case to == types.Date:
		return floorDiv(x.Ints[i], microsPerDay), true
	}
	return multiply(x.Ints[i], microsPerDay)
}

func (k *cast) text(x *Vector, i int32) []byte {
	k.one = append(k.one[:0], x.Texts[i]...)
	return k.one
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
