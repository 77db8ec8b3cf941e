package types

import (
	"errors"
	"fmt"
	"math"
)

// Kind is a type without its digits.
type Kind uint8

const (
	Null Kind = iota // of the literal NULL: converts to every type
	Bool
	BigInt
	Decimal
	Double
	Text
	Date
	Timestamp
	Interval
	TextList
)

var kindNames = [...]string{"NULL", "BOOLEAN", "BIGINT", "DECIMAL", "DOUBLE", "TEXT", "DATE", "TIMESTAMP", "INTERVAL", "TEXT[]"}

func (k Kind) String() string { return kindNames[k] }

// Type is the type of a value. For a DECIMAL, Precision is the number of all digits, and Scale that of the digits after the point.
// For other types both are 0.
type Type struct {
	Kind             Kind
	Precision, Scale uint8
}

// MaxPrecision bounds the digits of a DECIMAL: as many as fit into 64 bits.
const MaxPrecision = 18

// Of returns the type of a kind. A DECIMAL gets all digits, and none of them after the point.
func Of(k Kind) Type {
	if k == Decimal {
		return DecimalOf(MaxPrecision, 0)
	}
	return Type{Kind: k}
}

// DecimalOf returns DECIMAL(precision, scale).
func DecimalOf(precision, scale int) Type {
	return Type{Decimal, uint8(precision), uint8(scale)}
}

func (t Type) String() string {
	if t.Kind == Decimal {
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	}
	return t.Kind.String()
}

// IsNumber reports whether the type is a number.
func (t Type) IsNumber() bool { return t.Kind == BigInt || t.Kind == Decimal || t.Kind == Double }

// Range is what a cast to a type accepts that is narrower than its values' type: a smaller integer, or a TIME, which is a TEXT.
type Range struct {
	Min, Max int64
	Time     bool
}

// ErrType is wrapped by every error of this package: a type, or a combination of types, is not valid.
var ErrType = errors.New("wrong type")

// Error says that types do not fit.
type Error struct {
	Message string
	Hint    string // what to write instead; may be empty
	Types   []Type // those that the message names
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return ErrType }

// Refuse returns an Error. The format's arguments may be types, or an Error that says more.
func Refuse(hint, format string, args ...any) error {
	e := &Error{Message: fmt.Sprintf(format, args...), Hint: hint}
	for _, a := range args {
		switch a := a.(type) {
		case Type:
			e.Types = append(e.Types, a)
		case typeList:
			for _, x := range a {
				e.Types = append(e.Types, x.Type)
			}
		case *Error:
			e.Types = append(e.Types, a.Types...)
		}
	}
	return e
}

var names = map[string]Kind{
	"BIGINT": BigInt, "INT8": BigInt, "LONG": BigInt, "INT64": BigInt, "DOUBLE": Double, "FLOAT8": Double,
	"DECIMAL": Decimal, "NUMERIC": Decimal, "DEC": Decimal, "TEXT": Text, "VARCHAR": Text, "STRING": Text, "CHAR": Text, "BPCHAR": Text,
	"TIME":    Text,
	"BOOLEAN": Bool, "BOOL": Bool, "LOGICAL": Bool, "DATE": Date, "TIMESTAMP": Timestamp, "DATETIME": Timestamp, "INTERVAL": Interval,
}

var ranges = map[string]Range{
	"INTEGER": {Min: math.MinInt32, Max: math.MaxInt32}, "INT": {Min: math.MinInt32, Max: math.MaxInt32},
	"INT4": {Min: math.MinInt32, Max: math.MaxInt32}, "INT32": {Min: math.MinInt32, Max: math.MaxInt32},
	"SIGNED": {Min: math.MinInt32, Max: math.MaxInt32}, "SMALLINT": {Min: math.MinInt16, Max: math.MaxInt16},
	"INT2": {Min: math.MinInt16, Max: math.MaxInt16}, "SHORT": {Min: math.MinInt16, Max: math.MaxInt16},
	"INT16": {Min: math.MinInt16, Max: math.MaxInt16}, "TINYINT": {Min: math.MinInt8, Max: math.MaxInt8},
	"INT1":     {Min: math.MinInt8, Max: math.MaxInt8},
	"UTINYINT": {Min: 0, Max: math.MaxUint8}, "USMALLINT": {Min: 0, Max: math.MaxUint16}, "UINTEGER": {Min: 0, Max: math.MaxUint32},
}

// refused are types of the dialect that Posta does not have.
var refused = map[string]string{
	"HUGEINT": "Write BIGINT, or DOUBLE.", "UHUGEINT": "Write BIGINT, or DOUBLE.", "UBIGINT": "Write BIGINT, or DOUBLE.",
	"BIGNUM": "Write BIGINT, or DOUBLE.",
	"FLOAT":  "Write DOUBLE.", "FLOAT4": "Write DOUBLE.", "REAL": "Write DOUBLE.", "BLOB": "Write TEXT: its bytes stay as they are.",
	"BYTEA": "Write TEXT: its bytes stay as they are.",
	"JSON":  "Write TEXT, and take values out with ->>.", "UUID": "Write TEXT.", "ENUM": "Write TEXT.",
	"TIMESTAMPTZ": "Write TIMESTAMP: a value with an offset is converted to UTC.", "TIMESTAMP_S": "Write TIMESTAMP.",
	"TIMESTAMP_MS": "Write TIMESTAMP.", "TIMESTAMP_NS": "Write TIMESTAMP.",
	"TIMETZ": "Write TEXT.",
}

// Parse returns the type that an upper-case name stands for, and the range of a smaller integer type or a TIME.
func Parse(name string, args []int, list bool) (Type, *Range, error) {
	if why, ok := refused[name]; ok {
		return Type{}, nil, Refuse(why, "the type %s is not supported", name)
	}
	k, known := names[name]
	r, small := ranges[name]
	if small {
		k, known = BigInt, true
	}
	switch {
	case !known:
		return Type{}, nil, Refuse("Types are BIGINT, DOUBLE, DECIMAL(p, s), TEXT, BOOLEAN, DATE, TIMESTAMP and INTERVAL.",
			"there is no type %s", name)
	case list && (k != Text || len(args) > 0):
		return Type{}, nil, Refuse("The only list is TEXT[].", "a list of %s is not supported", name)
	case list:
		return Of(TextList), nil, nil
	case k == Decimal:
		t, err := parseDecimal(args)
		return t, nil, err
	case len(args) > 0:
		return Type{}, nil, Refuse(fmt.Sprintf("Write %s alone.", k), "the type %s takes no numbers in parentheses", name)
	case small:
		return Of(k), &r, nil
	case name == "TIME":
		return Of(k), &Range{Time: true}, nil
	}
	return Of(k), nil, nil
}

func parseDecimal(args []int) (Type, error) {
	p, s := MaxPrecision, 3
	switch len(args) {
	case 0:
	case 1:
		p, s = args[0], 0
	case 2:
		p, s = args[0], args[1]
	default:
		return Type{}, Refuse("Write DECIMAL(p, s).", "DECIMAL takes two numbers")
	}
	if p < 1 || p > MaxPrecision || s > p {
		return Type{}, Refuse("p is 1 to 18 and s at most p; beyond that, write DOUBLE.", "DECIMAL(%d, %d) is not supported", p, s)
	}
	return DecimalOf(p, s), nil
}

// Number returns the type of a number as it is written, without its sign: BIGINT, with a point DECIMAL, with an exponent
// DOUBLE. 9223372036854775808 is not a BIGINT; the caller handles -9223372036854775808.
func Number(text string) (Type, error) {
	digits, scale, point := 0, 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == 'e' || c == 'E':
			return Of(Double), nil
		case c == '.':
			point = true
		default:
			digits++
			if point {
				scale++
			}
		}
	}
	if point {
		if digits > MaxPrecision {
			return Type{}, Refuse("Write it as a DOUBLE, with an exponent: "+text+"e0.", "the number has %d digits; a DECIMAL has at most 18",
				digits)
		}
		return DecimalOf(digits, scale), nil
	}
	v := uint64(0)
	for i := range len(text) {
		d := uint64(text[i] - '0')
		if v > (math.MaxInt64-d)/10 {
			return Type{}, Refuse("Write it as a text, '"+text+"', or as a DOUBLE, with an exponent: "+text+"e0.",
				"the number does not fit into a BIGINT")
		}
		v = v*10 + d
	}
	return Of(BigInt), nil
}

// asDecimal returns the type that a BIGINT counts as beside a DECIMAL.
func asDecimal(t Type) Type {
	if t.Kind == BigInt {
		return DecimalOf(MaxPrecision, 0)
	}
	return t
}

// Common returns the type that values of both types are converted to if one of them is chosen or they are compared: CASE, COALESCE, IN, =,
// UNION.
func Common(a, b Type) (Type, error) {
	switch {
	case a == b || b.Kind == Null:
		return a, nil
	case a.Kind == Null:
		return b, nil
	case a.IsNumber() && b.IsNumber():
		if a.Kind == Double || b.Kind == Double {
			return Of(Double), nil
		}
		a, b = asDecimal(a), asDecimal(b)
		scale := max(a.Scale, b.Scale)
		whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
		return Type{Decimal, min(whole+scale, MaxPrecision), scale}, nil
	case (a.Kind == Date || a.Kind == Timestamp) && (b.Kind == Date || b.Kind == Timestamp):
		return Of(Timestamp), nil
	}
	return Type{}, Refuse(castHint(a, b), "%s and %s have no type in common", a, b)
}

// castHint says how to make values of two types comparable.
func castHint(a, b Type) string {
	if a.Kind == Text {
		a, b = b, a
	}
	if b.Kind == Text {
		return fmt.Sprintf("Convert one of them: x::%s, or x::TEXT.", a)
	}
	return "Convert both to TEXT: x::TEXT."
}

// Taken reports whether a value of type t converts implicitly to kind k, and the distance of this conversion; 0 means none.
// Among several forms of a function, the nearest one is chosen.
func (t Type) Taken(k Kind) (distance int, ok bool) {
	switch {
	case t.Kind == k:
		return 0, true
	case t.Kind == Null:
		return 1, true
	case t.Kind == BigInt && k == Decimal, t.Kind == Decimal && k == Double, t.Kind == Date && k == Timestamp:
		return 1, true
	case t.Kind == BigInt && k == Double:
		return 2, true
	}
	return 0, false
}

// Castable reports whether CAST can turn values of type t into values of type to. A single value may still have no
// counterpart.
func (t Type) Castable(to Type) bool {
	switch {
	case t.Kind == to.Kind || t.Kind == Null || to.Kind == Text:
		return true
	case t.Kind == Text:
		return to.Kind != TextList
	case t.IsNumber() || t.Kind == Bool:
		return to.IsNumber() || to.Kind == Bool
	case t.Kind == Date || t.Kind == Timestamp:
		return to.Kind == Date || to.Kind == Timestamp
	}
	return false
}
