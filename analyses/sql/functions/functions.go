// Package functions finds the functions of SQL by name: those of package types, whose kernels package eval has or which are window
// functions, and the aggregates of package aggregate.
package functions

import (
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/types"
)

// Find returns the function that a name in lower case stands for, nil if there is none.
func Find(name string) *types.Function {
	if a := aggregate.Find(name); a != nil && !a.Summary {
		return &a.Function
	}
	return types.Find(name)
}

// Declared is Find for what plans call: also the aggregates of SUMMARIZE.
func Declared(name string) *types.Function {
	if a := aggregate.Find(name); a != nil {
		return &a.Function
	}
	return types.Find(name)
}

// All returns all functions, by group, in the order of the documentation.
func All() (all []types.Function) {
	for _, f := range types.Functions {
		if f.Class == types.Window && all[len(all)-1].Class == types.Scalar {
			for _, a := range aggregate.All {
				if !a.Summary {
					all = append(all, a.Function)
				}
			}
		}
		all = append(all, f)
	}
	return all
}

// Names returns the names and aliases of all functions, sorted.
func Names() (names []string) {
	for _, f := range All() {
		names = append(append(names, f.Name), f.Aliases...)
	}
	slices.Sort(names)
	return names
}
