package optimize

import (
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/plan"
)

// Unread drops the columns of projections and of groups that nobody reads. Of a view that has many columns, a statement may need few; the
// others would travel with each group, and the rows below would travel for them. A column that may fail stays, because the statement fails
// with it. The columns of tables stay, too, because a row is rejected for them.
//
//	project a                           project a
//	  project x as a, y as b              project x as a
//	    group by k (first x, first y)       group by k (first x)
func Unread(roots []plan.Node) []plan.Node {
	var order []plan.Node // each node after its inputs and queries
	seen := map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, q := range plan.QueriesIn(plan.Exprs(n)...) {
			visit(q.Plan)
		}
		for _, in := range plan.Inputs(n) {
			visit(in)
		}
		order = append(order, n)
	}
	u := unread{}
	for _, n := range roots {
		visit(n)
		u.everything(n)
	}
	for _, n := range slices.Backward(order) {
		u.mark(n)
	}
	return all(roots, plan.Rebuild(u.without))
}

// unread knows which columns are read.
type unread struct{ read plan.Set }

func (u *unread) everything(n plan.Node) {
	for _, f := range n.Fields() {
		u.read.Add(f.ID)
	}
}

// mark marks what a node reads, whose own columns have been marked.
func (u *unread) mark(n plan.Node) {
	exprs := plan.Exprs(n)
	switch n := n.(type) {
	case *plan.Project:
		exprs = at(n.Exprs, u.columns(n))
	case *plan.Aggregation:
		exprs = slices.Clone(n.Keys)
		for _, i := range u.aggregates(n) {
			exprs = append(exprs, n.Aggs[i])
		}
	case *plan.SetOp:
		u.everything(n.L)
		u.everything(n.R)
	case *plan.Distinct:
		if len(n.On) == 0 {
			u.everything(n.Input)
		}
	}
	u.read.Mark(exprs...)
	for _, q := range plan.QueriesIn(exprs...) {
		u.everything(q.Plan)
	}
}

// columns returns which columns of a projection stay, at least one.
func (u *unread) columns(n *plan.Project) []int {
	return chosen(len(n.Exprs), 1, func(i int) bool { return u.read.Has(n.Out[i].ID) || !harmless(n.Exprs[i]) })
}

// aggregates returns which aggregates of groups stay, at least one if there are no keys.
func (u *unread) aggregates(n *plan.Aggregation) []int {
	return chosen(len(n.Aggs), 1-min(1, len(n.Keys)), func(i int) bool {
		of := aggregate.Find(n.Aggs[i].Func) // nil for GROUPING
		return u.read.Has(n.Out[len(n.Keys)+i].ID) || of == nil || of.Fails != "" ||
			slices.ContainsFunc(plan.Children(n.Aggs[i]), func(e plan.Expr) bool { return !harmless(e) })
	})
}

// harmless reports whether nothing is lost if an expression is not computed: it surely does not fail. One without a column fails for all
// rows, if it is not a constant.
func harmless(e plan.Expr) bool {
	if _, is := e.(*plan.Const); is {
		return true
	}
	return plan.HasColumn(e) && !plan.MayFailIfRead(e) && len(plan.QueriesIn(e)) == 0
}

// chosen returns the numbers below n that are to stay; if these are fewer than least, the first ones.
func chosen(n, least int, stays func(i int) bool) (list []int) {
	for i := range n {
		if stays(i) {
			list = append(list, i)
		}
	}
	for i := len(list); i < least && i < n; i++ {
		list = append(list, i)
	}
	return list
}

func (u *unread) without(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Project:
		if list := u.columns(n); len(list) < len(n.Exprs) {
			return &plan.Project{Input: n.Input, Exprs: at(n.Exprs, list), Out: at(n.Out, list)}
		}
	case *plan.Aggregation:
		if list := u.aggregates(n); len(list) < len(n.Aggs) {
			keys := len(n.Keys)
			out := append(slices.Clone(n.Out[:keys]), at(n.Out[keys:], list)...)
			return &plan.Aggregation{Input: n.Input, Keys: n.Keys, Sets: n.Sets, Aggs: at(n.Aggs, list), Out: out}
		}
	}
	return n
}

// at returns some items of a list.
func at[T any](list []T, which []int) []T {
	out := make([]T, len(which))
	for i, k := range which {
		out[i] = list[k]
	}
	return out
}
