package protocol

import (
	"fmt"
	"math"
	"strconv"

	"posta.dev/posta/internal/wire"
)

// Kind is what a [Value] holds.
type Kind uint8

// The kinds of a value.
const (
	Text Kind = iota
	Int
	Float
)

// Value is one cell of an answer. A struct of three fields rather than an interface: rows come in millions, and nothing
// from the network becomes a value of a type that the peer chose.
type Value struct {
	Kind  Kind
	Int   int64
	Float float64
	Text  string
}

// ValueOf turns what an analysis emits into a Value: string, int64 or float64.
func ValueOf(v any) (Value, error) {
	switch v := v.(type) {
	case string:
		return Value{Kind: Text, Text: v}, nil
	case int64:
		return Value{Kind: Int, Int: v}, nil
	case float64:
		return Value{Kind: Float, Float: v}, nil
	}
	return Value{}, fmt.Errorf("a cell of type %T; an analysis emits string, int64 or float64", v)
}

// Append appends the value in msgpack.
func (v Value) Append(dst []byte) []byte {
	switch v.Kind {
	case Int:
		return wire.AppendInt(dst, v.Int)
	case Float:
		return wire.AppendFloat(dst, v.Float)
	}
	return appendText(dst, v.Text)
}

// String returns the value as people read it.
func (v Value) String() string {
	switch v.Kind {
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Float:
		return string(appendFloat(nil, v.Float))
	}
	return v.Text
}

// AppendJSON appends the value in JSON; what JSON has no number for is null.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Int:
		return strconv.AppendInt(dst, v.Int, 10)
	case Float:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return append(dst, "null"...)
		}
		return appendFloat(dst, v.Float)
	}
	return appendJSONText(dst, v.Text)
}
