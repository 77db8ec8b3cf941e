package compile

import (
	"slices"

	"posta.dev/posta/analyses/sql/bind"
)

// live returns which columns of each node are read by the nodes above it. The other columns need not travel.
func live(roots []root) map[bind.Node][]bool {
	var order []bind.Node // each node after its inputs
	seen := map[bind.Node]bool{}
	var visit func(n bind.Node)
	visit = func(n bind.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, in := range append(bind.Inputs(n), queries(bind.Exprs(n))...) {
			visit(in)
		}
		order = append(order, n)
	}
	read := map[bind.Node][]bool{}
	for _, r := range roots {
		visit(r.plan)
		everything(read, r.plan)
	}
	for _, n := range slices.Backward(order) {
		for _, q := range queries(bind.Exprs(n)) {
			everything(read, q)
		}
		readBy(read, n)
	}
	return read
}

// columnsRead returns the marks of a node's columns.
func columnsRead(read map[bind.Node][]bool, n bind.Node) []bool {
	if read[n] == nil {
		read[n] = make([]bool, len(n.Fields()))
	}
	return read[n]
}

func everything(read map[bind.Node][]bool, n bind.Node) {
	all := columnsRead(read, n)
	for i := range all {
		all[i] = true
	}
}

// readBy marks the columns of its inputs that a node reads.
func readBy(read map[bind.Node][]bool, n bind.Node) {
	own := columnsRead(read, n)
	through := func(in bind.Node, exprs ...bind.Expr) {
		to := columnsRead(read, in)
		for i := range to {
			to[i] = to[i] || own[i]
		}
		bind.Mark(to, exprs...)
	}
	switch n := n.(type) {
	case *bind.Filter:
		through(n.Input, n.Cond)
	case *bind.Sort:
		through(n.Input, bind.Exprs(n)...)
	case *bind.Limit:
		through(n.Input)
	case *bind.Windows:
		through(n.Input, bind.Exprs(n)...)
	case *bind.Unnest:
		to := columnsRead(read, n.Input)
		for i := range to {
			to[i] = to[i] || own[i]
		}
		bind.Mark(to, n.Lists...)
	case *bind.Distinct:
		if len(n.On) == 0 {
			everything(read, n.Input)
		}
		through(n.Input, n.On...)
	case *bind.Project:
		bind.Mark(columnsRead(read, n.Input), n.Exprs...)
	case *bind.Aggregation:
		bind.Mark(columnsRead(read, n.Input), bind.Exprs(n)...)
	case *bind.SetOp:
		everything(read, n.L)
		everything(read, n.R)
	case *bind.Join:
		l, r := columnsRead(read, n.L), columnsRead(read, n.R)
		both := make([]bool, len(l)+len(r))
		copy(both, own)
		if n.Rest != nil {
			bind.Mark(both, n.Rest)
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
			bind.Mark(l, p[0])
			bind.Mark(r, p[1])
		}
	}
}

// travelling returns which columns of a node are computed and read.
func (s *statement) travelling(n bind.Node) []bool {
	list := slices.Clone(have(n))
	for i, l := range s.live[n] {
		list[i] = list[i] && l
	}
	return list
}
