package split

import (
	"slices"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/plan"
)

// liveness says which columns of each node are read by the nodes above it. The other columns need not travel.
type liveness map[plan.Node]*plan.Set

func live(roots []exec.Root) liveness {
	var order []plan.Node // each node after its inputs
	seen := map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, in := range append(plan.Inputs(n), exec.Queries(plan.Exprs(n))...) {
			visit(in)
		}
		order = append(order, n)
	}
	read := liveness{}
	for _, r := range roots {
		visit(r.Plan)
		read.everything(r.Plan)
	}
	for _, n := range slices.Backward(order) {
		for _, q := range exec.Queries(plan.Exprs(n)) {
			read.everything(q)
		}
		read.by(n)
	}
	return read
}

// of returns the columns of a node that are read.
func (read liveness) of(n plan.Node) *plan.Set {
	if read[n] == nil {
		read[n] = &plan.Set{}
	}
	return read[n]
}

func (read liveness) everything(n plan.Node) {
	for _, f := range n.Fields() {
		read.of(n).Add(f.ID)
	}
}

// by marks the columns of its inputs that a node reads.
func (read liveness) by(n plan.Node) {
	switch n := n.(type) {
	case *plan.Distinct:
		if len(n.On) == 0 {
			read.everything(n.Input)
		}
	case *plan.SetOp:
		read.everything(n.L)
		read.everything(n.R)
		return
	case *plan.Project, *plan.Aggregation: // their columns are new
		read.of(plan.Inputs(n)[0]).Mark(plan.Exprs(n)...)
		return
	}
	for _, in := range plan.Inputs(n) {
		to := read.of(in)
		to.Mark(plan.Exprs(n)...)
		for _, f := range in.Fields() {
			if read.of(n).Has(f.ID) {
				to.Add(f.ID)
			}
		}
	}
}

// travelling returns which columns of a node are computed and read. Of a node that the split itself has made, all columns count as read.
func (s *statement) travelling(n plan.Node) []bool {
	list, live := make([]bool, len(n.Fields())), s.live[n]
	for i, f := range n.Fields() {
		list[i] = (live == nil || live.Has(f.ID)) && !s.unread.Has(f.ID)
	}
	return list
}
