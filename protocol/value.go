package protocol

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"posta.dev/posta/internal/wire"
)

// Kind is the kind of a [Value].
type Kind uint8

// The kinds of a value.
const (
	Text Kind = iota
	Int
	Float
	Bool // Int is 1 or 0
	Null
)

// Value is one cell of an answer. It is a struct and not an interface for two reasons: there are millions of rows, and a peer must not
// choose the type of a value.
type Value struct {
	Kind  Kind
	Int   int64
	Float float64
	Text  string
}

// ValueOf converts what an analysis emits to a Value: string, int64, float64, bool or nil, which is NULL.
func ValueOf(v any) (Value, error) {
	switch v := v.(type) {
	case string:
		return Value{Kind: Text, Text: v}, nil
	case int64:
		return Value{Kind: Int, Int: v}, nil
	case float64:
		return Value{Kind: Float, Float: v}, nil
	case bool:
		b := Value{Kind: Bool}
		if v {
			b.Int = 1
		}
		return b, nil
	case nil:
		return Value{Kind: Null}, nil
	}
	return Value{}, fmt.Errorf("a cell of type %T; an analysis emits string, int64, float64, bool or nil", v)
}

// Append appends the value in msgpack.
func (v Value) Append(dst []byte) []byte {
	switch v.Kind {
	case Int:
		return wire.AppendInt(dst, v.Int)
	case Float:
		return wire.AppendFloat(dst, v.Float)
	case Bool:
		return wire.AppendBool(dst, v.Int != 0)
	case Null:
		return wire.AppendNil(dst)
	}
	return appendCell(dst, v.Text)
}

// UTF8 returns a text for formats that hold nothing but UTF-8: each byte that is not UTF-8 becomes U+FFFD, as in JSON.
func UTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// appendCell appends the text of a cell. Files may hold any bytes, and an answer keeps them. Libraries in other languages refuse a str that
// is not UTF-8, so such a text is a bin.
func appendCell[T string | []byte](dst []byte, text T) []byte {
	if utf8.ValidString(string(text)) {
		return wire.AppendString(dst, text)
	}
	return append(wire.AppendBinHeader(dst, len(text)), text...)
}

// String returns the value in a form for people.
func (v Value) String() string {
	switch v.Kind {
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Float:
		return string(appendFloat(nil, v.Float))
	case Bool:
		return strconv.FormatBool(v.Int != 0)
	case Null:
		return ""
	}
	return v.Text
}

// AppendJSON appends the value in JSON. NaN and infinities, which JSON cannot express, become null.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Int:
		return strconv.AppendInt(dst, v.Int, 10)
	case Float:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return append(dst, "null"...)
		}
		return appendFloat(dst, v.Float)
	case Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	case Null:
		return append(dst, "null"...)
	}
	return appendJSONText(dst, v.Text)
}
