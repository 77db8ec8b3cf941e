package analyses

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// ErrBadParam is wrapped by the errors of [Analysis.Args]: a parameter that does not exist or does not pass its check.
var ErrBadParam = errors.New("bad parameter")

// Args are the values of an analysis' parameters in one session, in the order of Analysis.Params.
type Args []string

// Args checks the parameters that a client gave, and fills in the defaults.
func (a *Analysis) Args(given map[string]string) (Args, error) {
	args := make(Args, len(a.Params))
	known := make(map[string]bool, len(a.Params))
	for i, p := range a.Params {
		known[p.Name] = true
		v, ok := given[p.Name]
		if !ok {
			v = p.Default
		}
		if p.Check != nil {
			if err := p.Check(v); err != nil {
				return nil, fmt.Errorf("%w: %s of %s is %q: %w", ErrBadParam, p.Name, a.Name, v, err)
			}
		}
		args[i] = v
	}
	for name := range given {
		if !known[name] {
			return nil, fmt.Errorf("%w: %s has no %q; it has %s", ErrBadParam, a.Name, name, a.paramNames())
		}
	}
	return args, nil
}

// Check reports whether args are values of params that pass their checks. Nodes get args from the network, so an analysis that
// parses them in its NewJoiner must not assume that [Analysis.Args] has checked them.
func (args Args) Check(params []Param) error {
	if len(args) != len(params) {
		return fmt.Errorf("%w: %d values for %d parameters", ErrBadParam, len(args), len(params))
	}
	for i, p := range params {
		if p.Check == nil {
			continue
		}
		if err := p.Check(args[i]); err != nil {
			return fmt.Errorf("%w: %s is %q: %w", ErrBadParam, p.Name, args[i], err)
		}
	}
	return nil
}

func (a *Analysis) paramNames() string {
	names := make([]string, 0, len(a.Params))
	for _, p := range a.Params {
		names = append(names, p.Name)
	}
	sort.Strings(names)
	if len(names) == 0 {
		return "no parameters"
	}
	return strings.Join(names, ", ")
}
