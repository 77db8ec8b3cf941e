package analyses

import (
	"errors"
	"fmt"
)

// ErrBadPlan is wrapped by the errors of [Set.Open]: the session's plan is not a plan of its analysis, or this program cannot
// carry it out.
var ErrBadPlan = errors.New("bad plan")

// Open returns the analysis of a session: the one called name, or the one that it compiles from the session's plan (Q1). A
// plan comes from the network, so a panic of the compiler becomes an error.
func (s Set) Open(name string, plan []byte) (a *Analysis, err error) {
	if a, err = s.Find(name); err != nil {
		return nil, err
	}
	switch {
	case a.Compile == nil && len(plan) > 0:
		return nil, fmt.Errorf("%w: analysis %s is built in, and takes none", ErrBadPlan, name)
	case a.Compile == nil:
		return a, nil
	case len(plan) == 0:
		return nil, fmt.Errorf("%w: analysis %s needs one, and none came with the session", ErrBadPlan, name)
	}
	defer func() {
		if v := recover(); v != nil {
			a, err = nil, fmt.Errorf("%w: the compiler of %s panics: %v", ErrBadPlan, name, v)
		}
	}()
	compiled, err := a.Compile(plan)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadPlan, err)
	}
	if err := compiled.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadPlan, err)
	}
	return compiled, nil
}

// BuiltIn returns the analyses that need no plan.
func (s Set) BuiltIn() (in Set) {
	for _, a := range s {
		if a.Compile == nil {
			in = append(in, a)
		}
	}
	return in
}
