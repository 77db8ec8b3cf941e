package protocol

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"posta.dev/posta/internal/wire"
)

// ErrWidth is returned by [Rows.Add] for a row with another number of cells than the query has columns.
var ErrWidth = errors.New("wrong number of cells")

// Rows are rows of a query in wire form, one msgpack array after the other. An output keeps and sends them in this form, and
// a client decodes them once. Rows from [DecodeReply] are views into the frame, which checked them.
type Rows struct {
	width int
	n     int
	b     []byte
}

// NewRows returns an empty list of rows with width cells each.
func NewRows(width int) Rows { return Rows{width: width} }

// Grow makes room for rows of so many bytes in all, so that Add moves nothing until then.
func (r *Rows) Grow(bytes int) { r.b = slices.Grow(r.b, bytes) }

// Len returns the number of rows.
func (r *Rows) Len() int { return r.n }

// Width returns the number of cells in a row.
func (r *Rows) Width() int { return r.width }

// Size returns how many bytes the rows take in a frame.
func (r *Rows) Size() int { return len(r.b) }

// Encoded returns the rows as bytes for RowsFrom. The bytes belong to the rows.
func (r *Rows) Encoded() []byte { return r.b }

// RowsFrom returns n rows of width cells each from bytes that Encoded returned. It returns an error for any other bytes.
func RowsFrom(width, n int, b []byte) (Rows, error) {
	in := newDecoder(b)
	for range n {
		if !in.ok() {
			break
		}
		in.ArrayOf(width)
		for c := 0; c < width && in.ok(); c++ {
			in.skipValue()
		}
	}
	if err := in.done(); err != nil {
		return Rows{}, fmt.Errorf("%d rows of %d columns: %w", n, width, err)
	}
	return Rows{width: width, n: n, b: b}, nil
}

// Add adds a row.
func (r *Rows) Add(row ...Value) error {
	if err := r.begin(len(row)); err != nil {
		return err
	}
	for _, v := range row {
		r.b = v.Append(r.b)
	}
	return nil
}

// AddOrdered adds a row of cells in their ordered form, and copies them.
func (r *Rows) AddOrdered(row []OrderedCell) error {
	if err := r.begin(len(row)); err != nil {
		return err
	}
	for _, c := range row {
		r.b = c.append(r.b)
	}
	return nil
}

// begin adds a row whose cells follow.
func (r *Rows) begin(cells int) error {
	if cells != r.width {
		return fmt.Errorf("%w: %d for %d columns", ErrWidth, cells, r.width)
	}
	r.b = wire.AppendArray(r.b, cells)
	r.n++
	return nil
}

// All yields the rows. The slice is valid until the next row; the texts in it are copies and stay valid.
func (r *Rows) All() iter.Seq[[]Value] {
	return func(yield func([]Value) bool) {
		d := newDecoder(r.b)
		row := make([]Value, r.width)
		for range r.n {
			d.row(row)
			if !yield(row) {
				return
			}
		}
	}
}

// Skip returns the rows without the first n.
func (r Rows) Skip(n int) Rows {
	d := newDecoder(r.b)
	for i := 0; i < n && r.n > 0; i++ {
		d.Skip(2)
		r.n--
	}
	r.b = d.Rest()
	return r
}

// First returns the first n rows.
func (r Rows) First(n int) Rows {
	rest := r.Skip(n)
	r.n -= rest.n
	r.b = r.b[: len(r.b)-len(rest.b) : len(r.b)-len(rest.b)]
	return r
}

func (r *Rows) append(dst []byte) []byte {
	return append(wire.AppendArray(dst, r.n), r.b...)
}

// row reads one row. It fails if the row does not have exactly len(row) cells of known kinds.
func (d *decoder) row(row []Value) {
	d.ArrayOf(len(row))
	for i := range row {
		row[i] = d.value()
	}
}

func (d *decoder) value() Value {
	if !d.ok() {
		return Value{}
	}
	switch kindOf(d.peek()) {
	case Int:
		return Value{Kind: Int, Int: d.Int()}
	case Float:
		return Value{Kind: Float, Float: d.Float()}
	case Null:
		d.IsNil()
		return Value{Kind: Null}
	case Bool:
		v := Value{Kind: Bool}
		if d.Bool() {
			v.Int = 1
		}
		return v
	}
	return Value{Kind: Text, Text: d.String()}
}

// kindOf returns the kind of a value with a given msgpack type byte. A byte of no other kind counts as text; reading it fails if
// it is not.
func kindOf(t byte) Kind {
	switch {
	case t < 0x80, t >= 0xe0, t >= 0xcc && t <= 0xd3:
		return Int
	case t == 0xca, t == 0xcb:
		return Float
	case t == 0xc0:
		return Null
	case t == 0xc2, t == 0xc3:
		return Bool
	}
	return Text
}

// checkRows returns the rows of a part as a view, and checks every cell. It is called after the whole frame has been read, because the
// columns may come after the rows.
func (d *decoder) checkRows(raw []byte, width int) Rows {
	in := newDecoder(raw)
	r := Rows{width: width, n: in.Array()}
	r.b = raw[len(raw)-in.Len():]
	for i := 0; i < r.n && in.ok(); i++ {
		in.ArrayOf(width)
		for c := 0; c < width && in.ok(); c++ {
			in.skipValue()
		}
	}
	if err := in.done(); err != nil {
		d.fail("rows of %d columns: %w", width, err)
		return Rows{}
	}
	return r
}

func (d *decoder) skipValue() {
	switch kindOf(d.peek()) {
	case Int:
		d.Int()
	case Float:
		d.Float()
	case Null:
		d.IsNil()
	case Bool:
		d.Bool()
	default:
		d.Bytes()
	}
}
