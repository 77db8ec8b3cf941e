package compile

import (
	"slices"

	"posta.dev/posta/analyses/sql/plan"
)

// live returns which columns of each node are read by the nodes above it. The other columns need not travel.
func live(roots []root) map[plan.Node][]bool {
	var order []plan.Node // each node after its inputs
	seen := map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, in := range append(plan.Inputs(n), queries(plan.Exprs(n))...) {
			visit(in)
		}
		order = append(order, n)
	}
	read := map[plan.Node][]bool{}
	for _, r := range roots {
		visit(r.plan)
		everything(read, r.plan)
	}
	for _, n := range slices.Backward(order) {
		for _, q := range queries(plan.Exprs(n)) {
			everything(read, q)
		}
		readBy(read, n)
	}
	return read
}

// columnsRead returns the marks of a node's columns.
func columnsRead(read map[plan.Node][]bool, n plan.Node) []bool {
	if read[n] == nil {
		read[n] = make([]bool, len(n.Fields()))
	}
	return read[n]
}

func everything(read map[plan.Node][]bool, n plan.Node) {
	all := columnsRead(read, n)
	for i := range all {
		all[i] = true
	}
}

// readBy marks the columns of its inputs that a node reads.
func readBy(read map[plan.Node][]bool, n plan.Node) {
	own := columnsRead(read, n)
	through := func(in plan.Node, exprs ...plan.Expr) {
		to := columnsRead(read, in)
		for i := range to {
			to[i] = to[i] || own[i]
		}
		plan.Mark(to, exprs...)
	}
	switch n := n.(type) {
	case *plan.Filter:
		through(n.Input, n.Cond)
	case *plan.Sort:
		through(n.Input, plan.Exprs(n)...)
	case *plan.Limit:
		through(n.Input)
	case *plan.Windows:
		through(n.Input, plan.Exprs(n)...)
	case *plan.Unnest:
		to := columnsRead(read, n.Input)
		for i := range to {
			to[i] = to[i] || own[i]
		}
		plan.Mark(to, n.Lists...)
	case *plan.Distinct:
		if len(n.On) == 0 {
			everything(read, n.Input)
		}
		through(n.Input, n.On...)
	case *plan.Project:
		plan.Mark(columnsRead(read, n.Input), n.Exprs...)
	case *plan.Aggregation:
		plan.Mark(columnsRead(read, n.Input), plan.Exprs(n)...)
	case *plan.SetOp:
		everything(read, n.L)
		everything(read, n.R)
	case *plan.Join:
		l, r := columnsRead(read, n.L), columnsRead(read, n.R)
		both := make([]bool, len(l)+len(r))
		copy(both, own)
		if n.Rest != nil {
			plan.Mark(both, n.Rest)
		}
		for i, b := range both {
			switch {
			case b && i < len(l):
				l[i] = true
			case b:
				r[i-len(l)] = true
			}
		}
		for _, p := range n.Equal {
			plan.Mark(l, p[0])
			plan.Mark(r, p[1])
		}
	}
}

// travelling returns which columns of a node are computed and read.
func (s *statement) travelling(n plan.Node) []bool {
	list := slices.Clone(have(n))
	for i, l := range s.live[n] {
		list[i] = list[i] && l
	}
	return list
}
