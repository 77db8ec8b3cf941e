package postgres

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/internal/lazy"
	"posta.dev/posta/protocol"
)

// Types of columns, as the server names them without their digits.
const (
	bigint      = "bigint"
	integer     = "integer"
	smallint    = "smallint"
	double      = "double precision"
	numeric     = "numeric"
	text        = "text"
	varchar     = "character varying"
	boolean     = "boolean"
	date        = "date"
	timestamp   = "timestamp without time zone"
	timestamptz = "timestamp with time zone"
)

// column is a column of a table.
type column struct {
	typ    string // without digits
	digits string // as the server shows the type, with its digits
}

// taken returns the types of columns that take values of a type, the one that this package makes first.
func taken(t types.Type) []string {
	switch t.Kind {
	case types.Bool:
		return []string{boolean}
	case types.BigInt:
		return []string{bigint, integer, smallint, numeric, double}
	case types.Double:
		return []string{double, numeric}
	case types.Decimal:
		return []string{numeric, text, varchar}
	case types.Date:
		return []string{date, timestamp, timestamptz, text, varchar}
	case types.Timestamp:
		return []string{timestamp, timestamptz, text, varchar}
	}
	return []string{text, varchar}
}

// made returns the type of a column that this package makes.
func made(t types.Type) string {
	if t.Kind == types.Decimal {
		return fmt.Sprintf("numeric(%d, %d)", t.Precision, t.Scale)
	}
	return taken(t)[0]
}

var scaled = lazy.Regexp(`^numeric\(\d+,(-?\d+)\)$`)

// takes reports whether a column takes all values of a type as they are, but for those that are too large for it: these are errors when
// they are written.
func (c column) takes(t types.Type) bool {
	if !slices.Contains(taken(t), c.typ) {
		return false
	}
	m := scaled().FindStringSubmatch(c.digits)
	if m == nil {
		return true
	}
	scale, err := strconv.Atoi(m[1])
	return err == nil && scale >= int(t.Scale) && t.Kind != types.Double // the server would round
}

// exactInt bounds the integers that a double precision holds exactly.
const exactInt = 1 << 53

// The first day of PostgreSQL's calendar, 2000-01-01, since 1970.
const (
	firstDay  = 10957
	dayMicros = 24 * 60 * 60 * 1_000_000
)

// appendField appends a cell of a column of type t to a column of type to. It returns false for a value that the column does not hold.
func appendField(b []byte, v protocol.Value, t types.Type, to string) ([]byte, bool) {
	switch {
	case v.Kind == protocol.Null:
		return append(b, 0xff, 0xff, 0xff, 0xff), true
	case to == text || to == varchar:
		return appendText(b, fitText(v.String())), true
	case to == boolean:
		return append(b, 0, 0, 0, 1, byte(v.Int&1)), v.Kind == protocol.Bool
	case to == bigint:
		return appendInt(b, v.Int), v.Kind == protocol.Int
	case to == integer:
		return appendBits(b, uint64(v.Int), 4), v.Kind == protocol.Int && v.Int == int64(int32(v.Int))
	case to == smallint:
		return appendBits(b, uint64(v.Int), 2), v.Kind == protocol.Int && v.Int == int64(int16(v.Int))
	case to == double && v.Kind == protocol.Int:
		return appendFloat(b, float64(v.Int)), v.Int <= exactInt && v.Int >= -exactInt
	case to == double:
		return appendFloat(b, v.Float), v.Kind == protocol.Float
	case to == numeric && v.Kind == protocol.Float:
		return appendNumeric(b, strconv.FormatFloat(v.Float, 'f', -1, 64))
	case to == numeric:
		return appendNumeric(b, v.String())
	}
	days, ok := field.AnyDate([]byte(v.Text))
	if t.Kind == types.Date && to == date {
		days -= firstDay
		return appendBits(b, uint64(days), 4), ok && days == int64(int32(days))
	}
	micros, ok := field.AnyTimestamp([]byte(v.Text))
	return appendInt(b, micros-firstDay*dayMicros), ok && micros > math.MinInt64+firstDay*dayMicros
}

// appendNumeric appends a number that is written with digits and a point in the binary form of numeric: the number of digits to the base
// 10,000, the weight of the first of them, the sign and the number of decimals behind the point, with 2 bytes each, and the digits.
func appendNumeric(b []byte, s string) ([]byte, bool) {
	sign := 0
	switch s {
	case "NaN":
		return appendShorts(b, 0, 0, 0xc000, 0), true
	case "+Inf":
		return appendShorts(b, 0, 0, 0xd000, 0), true
	case "-Inf":
		return appendShorts(b, 0, 0, 0xf000, 0), true
	}
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		sign, s = 0x4000, rest
	}
	whole, fraction, _ := strings.Cut(s, ".")
	scale := len(fraction)
	whole = strings.Repeat("0", (4-len(whole)%4)%4) + whole
	fraction += strings.Repeat("0", (4-len(fraction)%4)%4)
	weight, all := len(whole)/4-1, whole+fraction
	var digits []int
	for ; all != ""; all = all[4:] {
		d, err := strconv.ParseUint(all[:4], 10, 16)
		if err != nil {
			return b, false
		}
		digits = append(digits, int(d))
	}
	for len(digits) > 0 && digits[0] == 0 {
		digits, weight = digits[1:], weight-1
	}
	for len(digits) > 0 && digits[len(digits)-1] == 0 {
		digits = digits[:len(digits)-1]
	}
	if len(digits) == 0 {
		weight, sign = 0, 0
	}
	return appendShorts(b, append([]int{len(digits), weight, sign, scale}, digits...)...), true
}

// appendShorts appends a field of numbers of 2 bytes each.
func appendShorts(b []byte, all ...int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(2*len(all)))
	for _, n := range all {
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	}
	return b
}

// appendBits appends a field of the last bytes of a number.
func appendBits(b []byte, n uint64, bytes int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(bytes))
	for i := bytes - 1; i >= 0; i-- {
		b = append(b, byte(n>>(8*i)))
	}
	return b
}
