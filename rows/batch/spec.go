package batch

import (
	"errors"
	"fmt"
)

// Limits of a batch. They bound the work that a frame can cause. The length of a frame does not, because a column of equal
// numbers takes no bytes per row.
const (
	MaxRows    = 1 << 24
	MaxColumns = 1024
	MaxValues  = MaxRows * 256 // of all columns together
	MaxName    = 255           // bytes of a column's name
)

var (
	// ErrMalformed is wrapped by the errors of [Decode] when the bytes are not a batch.
	ErrMalformed = errors.New("malformed batch")
	// ErrSpec is wrapped by the errors of [CheckSpec], and of [Decode] when the batch is sound but has other columns than the
	// spec: sender and receiver run different versions of an analysis.
	ErrSpec = errors.New("batch columns do not fit")
	// ErrTooLarge is wrapped by the errors of [Decode] when the batch announces more than MaxRows, MaxColumns or MaxValues.
	ErrTooLarge = errors.New("batch too large")
)

// Kind is the type of a column. The numbers are part of the wire form.
type Kind uint8

const (
	Int   Kind = 1 // int64
	Float Kind = 2 // float64, every bit pattern
	Text  Kind = 3 // bytes, any length
	Dict  Kind = 4 // bytes of few different values: a dictionary and a code per row
)

func (k Kind) String() string {
	if k < Int || k > Dict {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return [...]string{Int: "int", Float: "float", Text: "text", Dict: "dict"}[k]
}

// FieldSpec names a column and gives its type.
type FieldSpec struct {
	Name string
	Kind Kind
}

// CheckSpec reports whether spec can be built and decoded: 1 to MaxColumns columns of known kinds, with distinct names that
// are not empty.
func CheckSpec(spec []FieldSpec) error {
	if len(spec) == 0 || len(spec) > MaxColumns {
		return fmt.Errorf("%w: %d columns, give 1 to %d", ErrSpec, len(spec), MaxColumns)
	}
	seen := make(map[string]bool, len(spec))
	for i, f := range spec {
		switch {
		case f.Name == "" || len(f.Name) > MaxName:
			return fmt.Errorf("%w: the name of column %d has %d bytes, give it 1 to %d", ErrSpec, i, len(f.Name), MaxName)
		case f.Kind < Int || f.Kind > Dict:
			return fmt.Errorf("%w: column %q is of unknown %v", ErrSpec, f.Name, f.Kind)
		case seen[f.Name]:
			return fmt.Errorf("%w: two columns are called %q", ErrSpec, f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}
