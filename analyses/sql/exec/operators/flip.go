package operators

import (
	"slices"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
)

// Counter is a Source that knows how many rows it gives of a node, and for whose plans the order of the rows of an inner join does not
// matter. A join then keeps its left side in place of the right one if the left one has far fewer rows: to keep a row costs several times
// what it costs to find that it has no partner.
type Counter interface {
	Source
	Count(n plan.Node) int
}

const (
	// farFewer is how many rows of the right side there must be for each of the left one.
	farFewer = 4
	// mostFlipped bounds the rows of the left side, which take memory that the right ones would move to files.
	mostFlipped = 1 << 16
)

// flips reports whether a join keeps its left side. The rows meet in another order then, so nothing that is computed of them may fail.
func (x *Executor) flips(n *plan.Join) bool {
	if n.Kind != syntax.Inner && n.Kind != syntax.Semi && n.Kind != syntax.Anti || len(n.Equal) == 0 ||
		slices.ContainsFunc(plan.Exprs(n), func(e plan.Expr) bool { return !plan.Pushable(e) }) {
		return false
	}
	l, r := x.rowsOf(n.L), x.rowsOf(n.R)
	return l >= 0 && l <= mostFlipped && farFewer*l < r
}

// rowsOf returns how many rows a node has at most; -1 if that is not known, or if its rows have a place.
func (x *Executor) rowsOf(n plan.Node) int {
	c, counts := x.source.(Counter)
	if !counts {
		return -1
	}
	for !c.Has(n) {
		switch of := n.(type) {
		case *plan.Filter:
			n = of.Input
		case *plan.Project:
			n = of.Input
		case *plan.Join:
			if n = of.L; of.Kind != syntax.Semi && of.Kind != syntax.Anti {
				return -1
			}
		default:
			return -1
		}
	}
	if scan, is := n.(*plan.Scan); is && slices.Contains(scan.Used[len(scan.Table.Fields):], true) {
		return -1
	}
	return c.Count(n)
}

// flipped computes a join that keeps its left side. done is false if that side does not fit the memory.
func (x *Executor) flipped(n *plan.Join, to sink) (done bool, err error) {
	half, width := n.Kind != syntax.Inner, len(n.R.Fields())
	other := plan.NewJoin(n.Kind, n.R, n.L)
	if half {
		other = plan.NewJoin(syntax.Right, n.R, n.L)
	}
	other.Rest = n.Rest
	for _, p := range n.Equal {
		other.Equal = append(other.Equal, [2]plan.Expr{p[1], p[0]})
	}
	turned := func(b *Batch) error {
		b.Columns = slices.Concat(b.Columns[width:], b.Columns[:width])
		return to(b)
	}
	j, err := x.newJoin(other, turned, nil, x.meter)
	if err != nil {
		return true, err
	}
	defer j.release()
	switch {
	case j.grace != nil && half:
		return false, nil
	case j.grace != nil:
		return true, j.grace.end(x.stream(n.R, j.grace.addLeft))
	case !half:
		return true, x.stream(n.R, j.probe)
	}
	j.wanted, j.pairs = []bool{}, func(*Batch, []int32, []int32) error { return nil }
	if err := x.stream(n.R, j.probe); err != nil {
		return true, err
	}
	j.alone = func(b *Batch, _ []int32) error {
		b.Columns = b.Columns[width:]
		return to(b)
	}
	return true, j.rightRows(n.Kind == syntax.Semi)
}
