package exec

import (
	"errors"

	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/rows/fold"
)

// Having is a condition on the groups of a leaf.
type Having struct {
	Leaf *Leaf
	Plan *plan.Filter // the condition above a passedLeaf
}

// errKeepsMost ends prune early.
var errKeepsMost = errors.New("most groups stay")

// sampledGroups is after how many groups prune decides whether it is worth while.
const sampledGroups = 4 * AtOnce

// Prune drops the groups that the condition excludes. If a value of any group cannot be computed, like a sum that is too large for its
// type, all groups stay: the reducer meets that group, too, and reports it. All stay as well if they are most, because Retain copies them.
func (h *Having) Prune(t *fold.Table) {
	keep, kept := make([]uint64, (t.Len()+63)/64), 0
	src := &orderedGroups{leaf: h.Leaf, t: t}
	err := operators.New(src, TailBytes, h.Plan).Each(h.Plan, func(b *operators.Batch) error {
		if src.from >= sampledGroups && kept > src.from/2 {
			return errKeepsMost
		}
		for _, i := range b.Sel {
			row := src.from + int(i)
			keep[row/64] |= 1 << (row % 64)
		}
		kept += len(b.Sel)
		return nil
	})
	if err != nil || kept > t.Len()/2 {
		return
	}
	t.Retain(func(row int) bool { return keep[row/64]>>(row%64)&1 != 0 })
}

// orderedGroups gives package operators all groups of a table, in the order of their row numbers.
type orderedGroups struct {
	leaf *Leaf
	t    *fold.Table
	from int // row number of the first group that was given last
}

func (g *orderedGroups) Has(n plan.Node) bool {
	_, is := n.(*PassedLeaf)
	return is
}

func (g *orderedGroups) Read(_ plan.Node, yield func(*operators.Batch) error) error {
	rows := make([]int, 0, AtOnce)
	for ; g.from < g.t.Len(); g.from += len(rows) {
		rows = rows[:0]
		for row := g.from; row < min(g.from+AtOnce, g.t.Len()); row++ {
			rows = append(rows, row)
		}
		if err := g.leaf.Groups.some(g.t, nil, rows, yield); err != nil {
			return err
		}
	}
	return nil
}
