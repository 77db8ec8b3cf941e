package values

import (
	"encoding/binary"
	"errors"
	"math"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// Values travel in a form whose bytes compare as the values do: NULL last, NaN as the greatest DOUBLE, texts by bytes. In a key, -0
// becomes 0.
//
//	NULL    0x02
//	value   0x01, then
//	  BIGINT, DECIMAL, DATE, TIMESTAMP   fold.AppendInt
//	  DOUBLE    8 bytes of its bits, ordered
//	  BOOLEAN   0 or 1
//	  TEXT      fold.AppendText
//	  INTERVAL  months, days, microseconds, each as fold.AppendInt; not ordered. In a key 30 days are a month
//	  TEXT[]    items, each 0x01 and its text or 0x02 for NULL, then 0x00
const (
	Present = 1
	Null    = 2
)

// Append appends the value of a row. Keys are equal if and only if the values are: NULL equals NULL, and NaN equals NaN.
func Append(b []byte, v *eval.Vector, row int32, key bool) []byte {
	if v.IsNull(row) {
		return append(b, Null)
	}
	b = append(b, Present)
	switch v.Kind {
	case types.Double:
		return appendDouble(b, v.Floats[row], key)
	case types.Bool:
		if v.Bools[row] {
			return append(b, 1)
		}
		return append(b, 0)
	case types.Text:
		return fold.AppendText(b, v.Texts[row])
	case types.Interval:
		i := v.Intervals[row]
		months, days, micros := int64(i.Months), int64(i.Days), i.Micros
		if key {
			months, days, micros = normal(i)
		}
		return fold.AppendInt(fold.AppendInt(fold.AppendInt(b, months), days), micros)
	case types.TextList:
		l := v.Lists[row]
		for i, s := range l.Items {
			if l.Nulls != nil && l.Nulls[i] {
				b = append(b, Null)
				continue
			}
			b = fold.AppendText(append(b, Present), s)
		}
		return append(b, 0)
	}
	return fold.AppendInt(b, v.Ints[row])
}

func appendDouble(b []byte, f float64, key bool) []byte {
	switch {
	case f != f:
		f = math.NaN() // the positive NaN, which is above infinity
	case f == 0 && key:
		f = 0
	}
	bits := math.Float64bits(f)
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(b, bits)
}

// ErrMalformed is returned by Cut for bytes that Append has not made.
var ErrMalformed = errors.New("malformed value in a table of a SQL session")

// Cut appends the value that b begins with to v, which has n rows, and returns the rest of b.
func Cut(v *eval.Vector, n int, b []byte) (rest []byte, err error) {
	if len(v.Nulls) < n/64+1 {
		v.Nulls = append(v.Nulls, 0)
	}
	if len(b) == 0 || b[0] != Present && b[0] != Null {
		return nil, ErrMalformed
	}
	if b[0] == Null {
		v.Nulls[n>>6] |= 1 << (n & 63)
		v.Any = true
		appendZero(v)
		return b[1:], nil
	}
	b = b[1:]
	switch v.Kind {
	case types.Double:
		if len(b) < 8 {
			return nil, ErrMalformed
		}
		bits := binary.BigEndian.Uint64(b)
		if bits>>63 == 1 {
			bits &^= 1 << 63
		} else {
			bits = ^bits
		}
		v.Floats = append(v.Floats, math.Float64frombits(bits))
		return b[8:], nil
	case types.Bool:
		if len(b) == 0 {
			return nil, ErrMalformed
		}
		v.Bools = append(v.Bools, b[0] == 1)
		return b[1:], nil
	case types.Text:
		text, rest, err := fold.CutText(b)
		v.Texts = append(v.Texts, string(text))
		return rest, err
	case types.Interval:
		var parts [3]int64
		for i := range parts {
			if parts[i], b, err = fold.CutInt(b); err != nil {
				return nil, err
			}
		}
		v.Intervals = append(v.Intervals, plan.Interval{Months: int32(parts[0]), Days: int32(parts[1]), Micros: parts[2]})
		return b, nil
	case types.TextList:
		return cutList(v, b)
	}
	i, rest, err := fold.CutInt(b)
	v.Ints = append(v.Ints, i)
	return rest, err
}

func cutList(v *eval.Vector, b []byte) (rest []byte, err error) {
	l := eval.List{}
	for len(b) > 0 && b[0] != 0 {
		item, isNull := []byte(nil), b[0] == Null
		b = b[1:]
		if !isNull {
			if item, b, err = fold.CutText(b); err != nil {
				return nil, err
			}
		}
		if isNull && l.Nulls == nil {
			l.Nulls = make([]bool, len(l.Items))
		}
		l.Items = append(l.Items, string(item))
		if l.Nulls != nil {
			l.Nulls = append(l.Nulls, isNull)
		}
	}
	if len(b) == 0 {
		return nil, ErrMalformed
	}
	v.Lists = append(v.Lists, l)
	return b[1:], nil
}

// appendZero appends the placeholder for a NULL.
func appendZero(v *eval.Vector) {
	switch v.Kind {
	case types.Double:
		v.Floats = append(v.Floats, 0)
	case types.Bool:
		v.Bools = append(v.Bools, false)
	case types.Text:
		v.Texts = append(v.Texts, "")
	case types.Interval:
		v.Intervals = append(v.Intervals, plan.Interval{})
	case types.TextList:
		v.Lists = append(v.Lists, eval.List{})
	default:
		v.Ints = append(v.Ints, 0)
	}
}

// AppendOrdered appends the value of a row so that bytes compare in the direction of an ORDER BY key.
func AppendOrdered(b []byte, v *eval.Vector, row int32, o *plan.Order) []byte {
	if v.IsNull(row) {
		if o.NullsFirst {
			return append(b, 0)
		}
		return append(b, Null)
	}
	at := len(b)
	b = Append(b, v, row, true)
	if o.Desc {
		for i := at + 1; i < len(b); i++ {
			b[i] = ^b[i]
		}
	}
	return b
}

// Ordered reports whether the bytes of a type's values compare as the values do.
func Ordered(k types.Kind) bool { return k != types.Interval && k != types.TextList && k != types.Null }

// IsInteger reports whether values of a type are integers in a vector.
func IsInteger(k types.Kind) bool {
	return k == types.BigInt || k == types.Decimal || k == types.Date || k == types.Timestamp
}
