package pyliteral

import (
	"errors"
	"fmt"
)

// ErrSyntax is wrapped by the errors of [Reader.End]: the bytes are not a literal that the package can read.
var ErrSyntax = errors.New("no Python literal")

// Error says where a literal is wrong.
type Error struct {
	Offset   int    // position of the byte that does not fit, counted from 0; the length if something is missing at the end
	Expected string // what would be valid there
}

func (e *Error) Error() string {
	return fmt.Sprintf("%v: expected %s at offset %d", ErrSyntax, e.Expected, e.Offset)
}

// Unwrap makes errors.Is find ErrSyntax.
func (e *Error) Unwrap() error { return ErrSyntax }
