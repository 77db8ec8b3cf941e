package analyses

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown is wrapped by the error of [Set.Find].
var ErrUnknown = errors.New("unknown analysis")

// Set holds the analyses of a program. It is passed as an argument. Rejected: a registry to which packages add themselves. So
// a program's main shows which analyses it has.
type Set []*Analysis

// Check reports the first analysis that does not pass its own check, or that has the same name as an earlier one.
func (s Set) Check() error {
	for i, a := range s {
		if err := a.Check(); err != nil {
			return err
		}
		for _, b := range s[:i] {
			if a.Name == b.Name {
				return fmt.Errorf("%w: there are two called %q", ErrBadAnalysis, a.Name)
			}
		}
	}
	return nil
}

// Find returns the analysis called name.
func (s Set) Find(name string) (*Analysis, error) {
	names := make([]string, len(s))
	for i, a := range s {
		if a.Name == name {
			return a, nil
		}
		names[i] = a.Name
	}
	return nil, fmt.Errorf("%w %q; the analyses are %s", ErrUnknown, name, strings.Join(names, ", "))
}
