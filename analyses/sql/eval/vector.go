package eval

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Vector is a column of values. Which slice holds them depends on Kind: Ints for BIGINT, the digits of DECIMAL, DATE and TIMESTAMP, Floats
// for DOUBLE, Bools for BOOLEAN, Texts for TEXT, Intervals for INTERVAL, Lists for TEXT[].
type Vector struct {
	Kind      types.Kind
	Ints      []int64
	Floats    []float64
	Bools     []bool
	Texts     []string
	Intervals []plan.Interval
	Lists     []List
	Nulls     []uint64 // bit i: row i is NULL; bits of rows that are not selected are undefined
	Any       bool     // whether a bit of Nulls may be set

	// Codes, if present, number the distinct values of a column: rows with equal codes have equal values, or are NULL. Codes are below
	// Entries.
	Codes   []uint32
	Entries int
	Dict    *Dict // the texts that the codes stand for; nil if they are not known, and for other types than TEXT
}

// Dict is the dictionary of a column of texts, in a batch of Rows rows. A reader of batches reuses it for the next batch, with another
// number in Batch.
type Dict struct {
	Texts []string
	Rows  int
	Batch uint64
}

// List is a value of type TEXT[]. Nulls is nil if no item is NULL.
type List struct {
	Items []string
	Nulls []bool
}

// IsNull reports whether a row is NULL.
func (v *Vector) IsNull(row int32) bool { return v.Any && v.Nulls[row>>6]>>(row&63)&1 == 1 }

// SetNull makes a row NULL.
func (v *Vector) SetNull(row int32) {
	v.Nulls[row>>6] |= 1 << (row & 63)
	v.Any = true
}

// NewVector makes a vector of n rows, none of which is NULL.
func NewVector(kind types.Kind, n int) *Vector {
	v := &Vector{Kind: kind}
	v.reset(n)
	return v
}

// Reset makes v a vector of n rows, none of which is NULL. It reuses memory, so values may be those of earlier rows.
func (v *Vector) Reset(n int) { v.reset(n) }

// reset makes room for n rows and clears the NULLs. It forgets texts and lists: a long one would otherwise stay in memory while the row
// that it belonged to is not computed.
func (v *Vector) reset(n int) {
	clear(v.Texts)
	clear(v.Lists)
	switch v.Kind {
	case types.Double:
		v.Floats = room(v.Floats, n)
	case types.Bool:
		v.Bools = room(v.Bools, n)
	case types.Text:
		v.Texts = room(v.Texts, n)
	case types.Interval:
		v.Intervals = room(v.Intervals, n)
	case types.TextList:
		v.Lists = room(v.Lists, n)
	default:
		v.Ints = room(v.Ints, n)
	}
	v.Nulls = room(v.Nulls, (n+63)/64)
	clear(v.Nulls)
	v.Any = false
}

func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// nullsOf makes every row NULL that is NULL in one of the operands. It works on all rows, because it does no harm to rows
// that are not selected.
func (v *Vector) nullsOf(operands ...*Vector) {
	for _, o := range operands {
		if o.Any {
			v.Any = true
			for i, w := range o.Nulls[:len(v.Nulls)] {
				v.Nulls[i] |= w
			}
		}
	}
}

// take copies the selected rows of another vector.
func (v *Vector) take(from *Vector, sel []int32) {
	switch v.Kind {
	case types.Double:
		copyRows(v.Floats, from.Floats, sel)
	case types.Bool:
		copyRows(v.Bools, from.Bools, sel)
	case types.Text:
		copyRows(v.Texts, from.Texts, sel)
	case types.Interval:
		copyRows(v.Intervals, from.Intervals, sel)
	case types.TextList:
		copyRows(v.Lists, from.Lists, sel)
	default:
		copyRows(v.Ints, from.Ints, sel)
	}
	if from.Any {
		for _, i := range sel {
			if from.IsNull(i) {
				v.SetNull(i)
			}
		}
	}
}

func copyRows[T any](to, from []T, sel []int32) {
	for _, i := range sel {
		to[i] = from[i]
	}
}

// ErrUnsupported is returned by Compile for an expression that has no kernel yet.
var ErrUnsupported = errors.New("not computed yet")

// Unsupported is an [ErrUnsupported] with its place in the statement.
type Unsupported struct {
	At   syntax.Pos
	What string
}

func (e *Unsupported) Error() string { return e.What + " is not computed yet" }

func (e *Unsupported) Unwrap() error { return ErrUnsupported }

// Error says that an expression has no value for a row, which fails the session. At is the place in the statement, Row the
// row's index in the batch.
type Error struct {
	At      syntax.Pos
	Row     int32
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("row %d: %s", e.Row, e.Message) }

// Value returns the value of a row as plan.Const holds it; nil for NULL, and for a list, which no constant holds.
func (v *Vector) Value(row int) any {
	if v.IsNull(int32(row)) {
		return nil
	}
	switch v.Kind {
	case types.Double:
		return v.Floats[row]
	case types.Bool:
		return v.Bools[row]
	case types.Text:
		return v.Texts[row]
	case types.Interval:
		return v.Intervals[row]
	case types.TextList:
		return nil
	}
	return v.Ints[row]
}
