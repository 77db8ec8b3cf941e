package query

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/types"
)

// NamedArg is the value of a parameter with a name; see Named.
type NamedArg struct {
	Name  string
	Value any
}

// Named returns the value of the parameter $name.
func Named(name string, value any) NamedArg { return NamedArg{name, value} }

// paramsOf returns the values of parameters by name: $1, $2 and so on for values, $name for Named ones. ? is the next value.
func paramsOf(args []any) (bind.Params, error) {
	params := bind.Params{}
	for i, arg := range args {
		name := strconv.Itoa(i + 1)
		if named, ok := arg.(NamedArg); ok {
			name, arg = named.Name, named.Value
		}
		value, err := paramOf(arg)
		if err != nil {
			return nil, fmt.Errorf("parameter $%s: %w", name, err)
		}
		params[name] = value
	}
	return params, nil
}

// paramOf returns a value as a literal of its type would be written. A text, and a time, has the type that its place in the statement
// needs.
func paramOf(arg any) (p bind.Param, err error) {
	p.Kind = types.Text
	switch v := arg.(type) {
	case time.Time:
		p.Text = v.UTC().Format("2006-01-02 15:04:05.999999")
		if v.Equal(v.Truncate(24 * time.Hour)) { // which a DATE can be compared with, too
			p.Text = v.UTC().Format(time.DateOnly)
		}
		return p, nil
	case []byte:
		p.Text = string(v)
		return p, nil
	case nil:
		p.Kind = types.Null
		return p, nil
	}
	switch v := reflect.ValueOf(arg); v.Kind() {
	case reflect.String:
		p.Text = v.String()
	case reflect.Bool:
		p.Kind, p.Text = types.Bool, strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.Kind, p.Text = types.BigInt, strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.Kind, p.Text = types.BigInt, strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		p.Kind, p.Text = types.Double, strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case reflect.Pointer:
		if v.IsNil() {
			return paramOf(nil)
		}
		return paramOf(v.Elem().Interface())
	default:
		return p, fmt.Errorf("a value of type %T: give a text, a number, a bool or a time", arg)
	}
	return p, nil
}
