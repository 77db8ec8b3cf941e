package plan

import "slices"

// WithInputs returns a node with other inputs, which have the same columns. It is the same node if they are the same.
func WithInputs(n Node, in ...Node) Node {
	if slices.Equal(in, Inputs(n)) {
		return n
	}
	switch n := n.(type) {
	case *Join:
		return n.With(in[0], in[1])
	case *SetOp:
		return &SetOp{Kind: n.Kind, All: n.All, L: in[0], R: in[1], Out: n.Out}
	case *Filter:
		return &Filter{Input: in[0], Cond: n.Cond}
	case *Aggregation:
		return &Aggregation{Input: in[0], Keys: n.Keys, Sets: n.Sets, Aggs: n.Aggs, Out: n.Out}
	case *Windows:
		return &Windows{Input: in[0], Calls: n.Calls, Out: behind(in[0], n.Out, n.Input)}
	case *Unnest:
		return &Unnest{Input: in[0], Lists: n.Lists, Outer: n.Outer, Out: behind(in[0], n.Out, n.Input)}
	case *Project:
		return &Project{Input: in[0], Exprs: n.Exprs, Out: n.Out}
	case *Distinct:
		return &Distinct{Input: in[0], On: n.On}
	case *Sort:
		return &Sort{Input: in[0], Keys: n.Keys}
	case *Limit:
		return &Limit{Input: in[0], Count: n.Count, Offset: n.Offset}
	}
	return n
}

// behind returns the columns of an input, and behind them those that a node has added to its former input.
func behind(in Node, out []Field, former Node) []Field {
	return append(slices.Clone(in.Fields()), out[len(former.Fields()):]...)
}

// WithExprs returns a node whose expressions are what by makes of them. It is the same node if they are the same.
func WithExprs(n Node, by func(Expr) Expr) Node {
	if !slices.ContainsFunc(Exprs(n), func(e Expr) bool { return by(e) != e }) {
		return n
	}
	all := func(list []Expr) (out []Expr) {
		for _, e := range list {
			out = append(out, by(e))
		}
		return out
	}
	switch n := n.(type) {
	case *Inline:
		to := &Inline{Out: n.Out}
		for _, row := range n.Rows {
			to.Rows = append(to.Rows, all(row))
		}
		return to
	case *Join:
		to := n.With(n.L, n.R)
		to.Equal = nil
		for _, p := range n.Equal {
			to.Equal = append(to.Equal, [2]Expr{by(p[0]), by(p[1])})
		}
		if n.Rest != nil {
			to.Rest = by(n.Rest)
		}
		return to
	case *Filter:
		return &Filter{Input: n.Input, Cond: by(n.Cond)}
	case *Aggregation:
		to := &Aggregation{Input: n.Input, Keys: all(n.Keys), Sets: n.Sets, Out: n.Out}
		for _, a := range n.Aggs {
			to.Aggs = append(to.Aggs, by(a).(*Aggregate))
		}
		return to
	case *Windows:
		to := &Windows{Input: n.Input, Out: n.Out}
		for _, c := range n.Calls {
			to.Calls = append(to.Calls, by(c).(*WindowCall))
		}
		return to
	case *Unnest:
		return &Unnest{Input: n.Input, Lists: all(n.Lists), Outer: n.Outer, Out: n.Out}
	case *Project:
		return &Project{Input: n.Input, Exprs: all(n.Exprs), Out: n.Out}
	case *Distinct:
		return &Distinct{Input: n.Input, On: all(n.On)}
	case *Sort:
		to := &Sort{Input: n.Input}
		for _, o := range n.Keys {
			to.Keys = append(to.Keys, Order{by(o.X), o.Desc, o.NullsFirst})
		}
		return to
	}
	return n
}

// Queries returns a function that replaces the plans of the queries in expressions by what node makes of them.
func Queries(node func(Node) Node) func(Expr) Expr {
	var r *Rewriter
	r = NewRewriter(func(e Expr) (Expr, bool) {
		q, is := e.(*Subquery)
		if !is {
			return nil, false
		}
		to := node(q.Plan)
		if to == q.Plan {
			return nil, false
		}
		c := *q
		c.Plan, c.X = to, r.Expr(q.X)
		return &c, true
	})
	return r.Expr
}

// Rebuild returns a function that rebuilds plans from the tables up: it replaces each node, whose inputs and queries have been replaced
// already, by what node makes of it. Nodes that several others read stay shared.
func Rebuild(node func(Node) Node) func(Node) Node {
	done := map[Node]Node{}
	var rebuilt func(n Node) Node
	var queries func(Expr) Expr
	rebuilt = func(n Node) Node {
		if to := done[n]; to != nil {
			return to
		}
		in := Inputs(n)
		for i := range in {
			in[i] = rebuilt(in[i])
		}
		to := node(WithExprs(WithInputs(n, in...), queries))
		done[n] = to
		return to
	}
	queries = Queries(rebuilt)
	return rebuilt
}

// Uses counts how many nodes and queries of plans read each node. A plan's own node counts as read once.
func Uses(roots ...Node) map[Node]int {
	uses, seen := map[Node]int{}, map[Expr]bool{}
	var count func(n Node)
	count = func(n Node) {
		if uses[n]++; uses[n] > 1 {
			return
		}
		for _, e := range Exprs(n) {
			each(e, seen, func(e Expr) {
				if q, is := e.(*Subquery); is {
					count(q.Plan)
				}
			})
		}
		for _, in := range Inputs(n) {
			count(in)
		}
	}
	for _, n := range roots {
		count(n)
	}
	return uses
}

// Nodes visits the nodes of a plan, and of the queries that it uses as values, each once.
func Nodes(root Node, visit func(Node)) {
	seen := map[Node]bool{}
	var node func(n Node)
	node = func(n Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		visit(n)
		for _, q := range QueriesIn(Exprs(n)...) {
			node(q.Plan)
		}
		for _, in := range Inputs(n) {
			node(in)
		}
	}
	node(root)
}

// QueriesIn returns the queries in expressions, those of one plan and kind as often as they are written.
func QueriesIn(exprs ...Expr) (list []*Subquery) {
	Walk(func(e Expr) {
		if q, is := e.(*Subquery); is {
			list = append(list, q)
		}
	}, exprs...)
	return list
}

// ReadsTables reports whether a plan reads a table.
func ReadsTables(n Node) (found bool) {
	Nodes(n, func(n Node) {
		_, is := n.(*Scan)
		found = found || is
	})
	return found
}
