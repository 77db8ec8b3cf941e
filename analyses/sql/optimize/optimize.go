// Package optimize has the rules that make plans cheaper. A rule takes plans and returns plans with the same answers (E1, E2). It changes
// no node: what stays the same is shared with the plans before.
package optimize

import "posta.dev/posta/analyses/sql/plan"

// all applies a function to all plans.
func all(roots []plan.Node, to func(plan.Node) plan.Node) []plan.Node {
	out := make([]plan.Node, len(roots))
	for i, n := range roots {
		out[i] = to(n)
	}
	return out
}
