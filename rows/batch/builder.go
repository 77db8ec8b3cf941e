package batch

import (
	"fmt"
	"slices"

	"posta.dev/posta/internal/wire"
)

// columnBuilder is what the Builder needs of its columns. Hot loops use the concrete types.
type columnBuilder interface {
	rows() int
	truncate(rows int)
	reset()
	size() int // upper bound of the wire form, without the name
	append(dst []byte, name string) []byte
	view() any // Ints, Floats, Texts or Dicts
}

// Builder collects rows, column by column. After Reset it can be used for the next batch. Only one goroutine at a time may
// use it.
type Builder struct {
	spec    []FieldSpec
	columns []columnBuilder
	ints    []*IntBuilder   // of columns
	others  []columnBuilder // of columns
}

// NewBuilder returns an empty builder. It panics on a spec that does not pass [CheckSpec], because specs are part of the
// program and never come from outside.
func NewBuilder(spec []FieldSpec) *Builder {
	if err := CheckSpec(spec); err != nil {
		panic(err)
	}
	b := &Builder{spec: slices.Clone(spec), columns: make([]columnBuilder, len(spec))}
	for i, f := range spec {
		b.columns[i] = newColumn(f.Kind)
		if c, ok := b.columns[i].(*IntBuilder); ok {
			b.ints = append(b.ints, c)
		} else {
			b.others = append(b.others, b.columns[i])
		}
	}
	return b
}

func newColumn(kind Kind) columnBuilder {
	switch kind {
	case Int:
		return &IntBuilder{}
	case Float:
		return &FloatBuilder{}
	case Text:
		return newTextBuilder()
	default:
		return newDictBuilder()
	}
}

// Int returns column i, which must be of kind Int. The pointer stays valid for the builder's life. The same holds for the
// other kinds.
func (b *Builder) Int(i int) *IntBuilder { return b.columns[i].(*IntBuilder) }

// Float returns column i, which must be of kind Float.
func (b *Builder) Float(i int) *FloatBuilder { return b.columns[i].(*FloatBuilder) }

// Text returns column i, which must be of kind Text.
func (b *Builder) Text(i int) *TextBuilder { return b.columns[i].(*TextBuilder) }

// Dict returns column i, which must be of kind Dict.
func (b *Builder) Dict(i int) *DictBuilder { return b.columns[i].(*DictBuilder) }

// Rows returns the number of rows of the first column. Between two rows all columns have the same number.
func (b *Builder) Rows() int { return b.columns[0].rows() }

// Truncate keeps the first rows rows. It also removes a last row that has values in only some columns.
func (b *Builder) Truncate(rows int) {
	for _, c := range b.ints { // most columns; a statement of SQL that skips most rows calls this for nearly every row
		if len(c.values) > rows {
			c.values = c.values[:rows]
		}
	}
	for _, c := range b.others {
		if c.rows() > rows {
			c.truncate(rows)
		}
	}
}

// Reset forgets all rows and keeps the memory for the next ones.
func (b *Builder) Reset() {
	for _, c := range b.columns {
		c.reset()
	}
}

// Size returns an upper bound of the length of the wire form.
func (b *Builder) Size() int {
	n := 16
	for i, c := range b.columns {
		n += len(b.spec[i].Name) + 32 + c.size()
	}
	return n
}

// Check reports whether the rows are whole: every column has the same number of them, at most MaxRows.
func (b *Builder) Check() error {
	rows := b.Rows()
	for i, c := range b.columns {
		if c.rows() != rows {
			return fmt.Errorf("%w: column %q has %d rows, column %q has %d; append one value to each per row",
				ErrSpec, b.spec[i].Name, c.rows(), b.spec[0].Name, rows)
		}
	}
	if rows > MaxRows {
		return fmt.Errorf("%w: %d rows, at most %d", ErrTooLarge, rows, MaxRows)
	}
	return nil
}

// Append appends the wire form of all rows to dst. The builder keeps its rows. Rows that do not pass [Builder.Check] are a
// mistake of the analysis and panic, because every receiver would refuse their frame for ever.
func (b *Builder) Append(dst []byte) []byte {
	if err := b.Check(); err != nil {
		panic(err)
	}
	dst = slices.Grow(dst, b.Size())
	dst = wire.AppendArray(dst, 3)
	dst = wire.AppendUint(dst, version)
	dst = wire.AppendUint(dst, uint64(b.Rows()))
	dst = wire.AppendArray(dst, len(b.columns))
	for i, c := range b.columns {
		dst = c.append(dst, b.spec[i].Name)
	}
	return dst
}

// View returns the rows as a batch without encoding them, for a reader in the same process. It is valid until the builder
// changes. Rows that do not pass [Builder.Check] panic as they do in Append.
func (b *Builder) View() *Batch {
	if err := b.Check(); err != nil {
		panic(err)
	}
	v := &Batch{rows: b.Rows(), columns: make([]any, len(b.columns))}
	for i, c := range b.columns {
		v.columns[i] = c.view()
	}
	return v
}

func appendHead(dst []byte, parts int, name string, kind Kind) []byte {
	dst = wire.AppendArray(dst, parts)
	dst = wire.AppendString(dst, name)
	return wire.AppendUint(dst, uint64(kind))
}
