package analyses

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown is wrapped by the error of [Set.Find].
var ErrUnknown = errors.New("unknown analysis")

// Set is the analyses a program knows. It is passed to whoever needs it: there is no registry that packages add
// themselves to, so that a program's main says what it can do.
type Set []*Analysis

// Find returns the analysis called name.
func (s Set) Find(name string) (*Analysis, error) {
	names := make([]string, len(s))
	for i, a := range s {
		if a.Name == name {
			return a, nil
		}
		names[i] = a.Name
	}
	return nil, fmt.Errorf("%w %q; there is %s", ErrUnknown, name, strings.Join(names, ", "))
}
