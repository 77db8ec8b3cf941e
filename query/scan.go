package query

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
)

var textType = types.Of(types.Text)

// ErrScan is wrapped by errors of Scan about a value that its destination cannot hold.
var ErrScan = errors.New("cannot scan")

// kindOf returns the kind of all values of a type that are not NULL.
func kindOf(t types.Type) protocol.Kind {
	switch t.Kind {
	case types.BigInt:
		return protocol.Int
	case types.Double:
		return protocol.Float
	case types.Bool:
		return protocol.Bool
	}
	return protocol.Text
}

// scanner is sql.Scanner. Package database/sql is left to its driver: a program that does not use it should not hold it.
type scanner interface{ Scan(src any) error }

// Scan copies the columns of the row to which Next has moved. A destination is a pointer to a text, a []byte, an integer, a float, a bool,
// a time.Time (of DATE and TIMESTAMP, in UTC), an any, or a pointer to one of these, which becomes nil for NULL; or a sql.Scanner, such as
// sql.NullInt64. A value that does not fit is an error that wraps ErrScan: nothing is rounded or cut.
func (r *Rows) Scan(dest ...any) error {
	if r.row == nil {
		return fmt.Errorf("%w: there is no row; call Next before, and Scan only if it returns true", ErrScan)
	}
	if len(dest) != len(r.row) {
		return fmt.Errorf("%w: the row has %d columns, and %d destinations are given", ErrScan, len(r.row), len(dest))
	}
	for i, d := range dest {
		if err := scan(d, r.row[i], r.columns[i].Type); err != nil {
			return fmt.Errorf("%w column %s, a %s: %w", ErrScan, r.columns[i].Name, r.columns[i].Type, err)
		}
	}
	return nil
}

// Value returns a value of the present row as Scan stores it in an any: nil, bool, int64, float64, string or time.Time.
func (r *Rows) Value(column int) any {
	v, err := goValue(r.row[column], r.columns[column].Type)
	if err != nil {
		return r.row[column].Text
	}
	return v
}

// goValue converts a value: DATE and TIMESTAMP to times, and the rest to what it is.
func goValue(v protocol.Value, t types.Type) (any, error) {
	switch v.Kind {
	case protocol.Null:
		return nil, nil
	case protocol.Int:
		return v.Int, nil
	case protocol.Float:
		return v.Float, nil
	case protocol.Bool:
		return v.Int != 0, nil
	}
	switch t.Kind {
	case types.Date:
		return time.Parse(time.DateOnly, v.Text)
	case types.Timestamp:
		return time.Parse("2006-01-02 15:04:05.999999", v.Text)
	}
	return v.Text, nil
}

func scan(dest any, v protocol.Value, t types.Type) error {
	value, err := goValue(v, t)
	if err != nil {
		return err
	}
	switch d := dest.(type) {
	case *any:
		*d = value
		return nil
	case scanner:
		return d.Scan(value)
	case *time.Time:
		at, is := value.(time.Time)
		if !is {
			return fmt.Errorf("%q is no time", v)
		}
		*d = at
		return nil
	case *[]byte:
		if *d = nil; v.Kind != protocol.Null {
			*d = []byte(v.String())
		}
		return nil
	}
	to := reflect.ValueOf(dest)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("the destination is a %T, and not a pointer", dest)
	}
	to = to.Elem()
	if to.Kind() == reflect.Pointer {
		if v.Kind == protocol.Null {
			to.SetZero()
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		return scan(to.Interface(), v, t)
	}
	if v.Kind == protocol.Null {
		return fmt.Errorf("it is NULL: scan it into a *%s or a sql.Null%s", to.Type(), nullName(to.Kind()))
	}
	return set(to, v)
}

func nullName(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "String"
	case reflect.Bool:
		return "Bool"
	case reflect.Float32, reflect.Float64:
		return "Float64"
	}
	return "Int64"
}

// set stores a value that is not NULL.
func set(to reflect.Value, v protocol.Value) error {
	text := v.String()
	switch {
	case to.Kind() == reflect.String:
		to.SetString(text)
	case to.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is no bool", text)
		}
		to.SetBool(b)
	case to.CanInt():
		n, err := strconv.ParseInt(whole(v, text), 10, to.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s is no %s", text, to.Type())
		}
		to.SetInt(n)
	case to.CanUint():
		n, err := strconv.ParseUint(whole(v, text), 10, to.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s is no %s", text, to.Type())
		}
		to.SetUint(n)
	case to.CanFloat():
		f, err := strconv.ParseFloat(text, to.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no %s", text, to.Type())
		}
		if v.Kind == protocol.Int && (f >= 1<<63 || int64(f) != v.Int) {
			return fmt.Errorf("%s is not exact as a %s", text, to.Type())
		}
		to.SetFloat(f)
	default:
		return fmt.Errorf("no value is stored in a %s", to.Type())
	}
	return nil
}

// whole returns the digits of a DOUBLE without a fraction, which String may write with an exponent.
func whole(v protocol.Value, text string) string {
	if v.Kind == protocol.Float && v.Float == math.Trunc(v.Float) && math.Abs(v.Float) < 1<<63 {
		return strconv.FormatFloat(v.Float, 'f', 0, 64)
	}
	return text
}
