package batch

import (
	"errors"
	"fmt"

	"posta.dev/posta/internal/wire"
)

// Batch holds decoded rows. Its columns are views into the bytes given to [Decode], and are valid until those bytes change.
// Many goroutines can read it. [Builder.View] makes a Batch of rows that were never encoded.
type Batch struct {
	rows    int
	columns []any // Ints, Floats, Texts or Dicts, by the spec
}

// Decode reads the wire form of a batch that must have exactly the columns of spec and take all of p. Errors wrap
// [ErrMalformed], [ErrSpec] or [ErrTooLarge].
func Decode(p []byte, spec []FieldSpec) (*Batch, error) {
	r := wire.NewReader(p)
	rows, err := readStart(&r, len(spec))
	if err != nil {
		return nil, fmt.Errorf("decode batch: %w", err)
	}
	b := &Batch{rows: rows, columns: make([]any, len(spec))}
	for i := range spec {
		if b.columns[i], err = readColumn(&r, spec[i], rows); err == nil {
			err = malformed(r.Err())
		}
		if err != nil {
			return nil, fmt.Errorf("decode batch: column %q: %w", spec[i].Name, err)
		}
	}
	if err := malformed(r.Done()); err != nil {
		return nil, fmt.Errorf("decode batch: %w", err)
	}
	return b, nil
}

func readStart(r *wire.Reader, columns int) (rows int, err error) {
	r.ArrayOf(3)
	v, n := r.Uint(), r.Uint()
	found := r.Array()
	switch {
	case r.Err() != nil:
		return 0, malformed(r.Err())
	case v != version:
		return 0, fmt.Errorf("%w: version %d of the form, %d is known", ErrSpec, v, version)
	case n > MaxRows:
		return 0, fmt.Errorf("%w: %d rows, at most %d", ErrTooLarge, n, MaxRows)
	case found > MaxColumns:
		return 0, fmt.Errorf("%w: %d columns, at most %d", ErrTooLarge, found, MaxColumns)
	case uint64(n)*uint64(found) > MaxValues:
		return 0, fmt.Errorf("%w: %d rows of %d columns, at most %d values", ErrTooLarge, n, found, MaxValues)
	case found != columns:
		return 0, fmt.Errorf("%w: it has %d columns, %d are wanted", ErrSpec, found, columns)
	}
	return int(n), nil
}

func readColumn(r *wire.Reader, want FieldSpec, rows int) (any, error) {
	parts, name, kind := r.Array(), r.Bytes(), r.Uint()
	if r.Err() != nil {
		return nil, nil
	}
	if string(name) != want.Name || kind != uint64(want.Kind) {
		return nil, fmt.Errorf("%w: found %q of kind %d, %v is wanted", ErrSpec, name, kind, want.Kind)
	}
	switch {
	case want.Kind == Int && parts == intParts:
		return readInts(r, rows), nil
	case want.Kind == Float && parts == floatParts:
		return readFloats(r, rows), nil
	case want.Kind == Text && parts == textParts:
		return readTexts(r, rows)
	case want.Kind == Dict && parts == dictParts:
		return readDicts(r, rows)
	}
	return nil, fmt.Errorf("%w: %v column in %d parts", ErrMalformed, want.Kind, parts)
}

// malformed wraps an error of msgpack in [ErrMalformed]; nil stays nil.
func malformed(err error) error {
	if err == nil || errors.Is(err, ErrMalformed) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}

// Rows returns the number of rows.
func (b *Batch) Rows() int { return b.rows }

// Ints returns column i, which must be of kind Int in the spec.
func (b *Batch) Ints(i int) Ints { return b.columns[i].(Ints) }

// Floats returns column i, which must be of kind Float in the spec.
func (b *Batch) Floats(i int) Floats { return b.columns[i].(Floats) }

// Texts returns column i, which must be of kind Text in the spec.
func (b *Batch) Texts(i int) Texts { return b.columns[i].(Texts) }

// Dicts returns column i, which must be of kind Dict in the spec.
func (b *Batch) Dicts(i int) Dicts { return b.columns[i].(Dicts) }
