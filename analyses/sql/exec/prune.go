package exec

import (
	"errors"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// Cut says which groups of a leaf can be in the answer: those for which a condition holds, and of these the first ones in an order.
type Cut struct {
	Leaf   *Leaf
	Cond   plan.Expr    // nil: it holds for all
	Orders []plan.Order // groups that these leave equal are in the order of their keys
	N      int          // how many of the first ones; 0: all
}

// errKeepsMost ends a cut early.
var errKeepsMost = errors.New("most groups stay")

// sampledGroups is after how many groups a cut without an order decides whether it is worth while.
const sampledGroups = 4 * AtOnce

// Prune drops groups that the cut leaves out, after it has completed them: the first table has the groups, and the tables of DISTINCT
// values follow.
func (c *Cut) Prune(tables []*fold.Table) error {
	t := tables[0]
	if err := c.Leaf.Groups.settleDistinct(t, tables[1:]); err != nil {
		return err
	}
	rows := c.rows(t)
	if rows == nil {
		return nil
	}
	keep := make([]uint64, (t.Len()+63)/64)
	for _, row := range rows {
		keep[row/64] |= 1 << (row % 64)
	}
	t.Retain(func(row int) bool { return keep[row/64]>>(row%64)&1 != 0 })
	return nil
}

// rows returns the rows of the groups that stay, in any order; nil: all of them. If a value of any group cannot be computed, like a sum
// that is too large for its type, all groups stay: the reducer meets that group, too, and reports it. All stay as well if they are most,
// because to drop the others would cost more than it saves.
func (c *Cut) rows(t *fold.Table) []int {
	if c == nil || c.N > t.Len()/2 || c.N == 0 && c.Cond == nil {
		return nil
	}
	src := c.source(t)
	best := newBest(t, c.Orders, c.N)
	stay := make([]int, 0, c.N)
	of := c.plan()
	err := operators.New(src, TailBytes, of).Each(of, func(b *operators.Batch) error {
		if c.N > 0 {
			return best.add(b, src.from)
		}
		if src.from >= sampledGroups && len(stay) > src.from/2 {
			return errKeepsMost
		}
		for _, i := range b.Sel {
			stay = append(stay, src.from+int(i))
		}
		return nil
	})
	if c.N > 0 {
		stay = best.rows(stay)
	}
	if err != nil || len(stay) > t.Len()/2 {
		return nil
	}
	return stay
}

// plan returns the node whose rows are the groups for which the condition holds, with the values of the orders.
func (c *Cut) plan() plan.Node {
	var of plan.Node = &PassedLeaf{Leaf: c.Leaf, Out: c.Leaf.Groups.Node.Fields()}
	if c.Cond != nil {
		of = &plan.Filter{Input: of, Cond: c.Cond}
	}
	p := &plan.Project{Input: of}
	for _, o := range c.Orders {
		p.Exprs, p.Out = append(p.Exprs, o.X), append(p.Out, plan.Field{Type: o.X.Type()})
	}
	return p
}

// source returns the groups of a table as the plan of a cut reads them.
func (c *Cut) source(t *fold.Table) *orderedGroups {
	var read plan.Set
	if c.Cond != nil {
		read.Mark(c.Cond)
	}
	for _, o := range c.Orders {
		read.Mark(o.X)
	}
	return &orderedGroups{leaf: c.Leaf, t: t, wanted: among(read, c.Leaf.Groups.Node.Fields())}
}

// orderedGroups gives package operators all groups of a table, in the order of their row numbers.
type orderedGroups struct {
	leaf   *Leaf
	t      *fold.Table
	wanted []bool // by column; others are nil
	from   int    // row number of the first group that was given last
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
		if err := g.leaf.Groups.some(g.t, nil, rows, g.wanted, yield); err != nil {
			return err
		}
	}
	return nil
}

// best selects the first groups of a table in an order. It is a heap with the last of them on top, so most groups cost one comparison.
type best struct {
	t     *fold.Table
	n     int
	keys  []values.Key // by order; each row of their vectors belongs to one group of the heap, and one is spare
	room  int32        // how many rows the vectors have
	heap  []ranked
	spare int32
}

// ranked is a group of the heap.
type ranked struct {
	prefix uint64 // orders groups that differ in it
	row    int    // of the table
	at     int32  // the row of its values in keys
}

func newBest(t *fold.Table, orders []plan.Order, n int) *best {
	b := &best{t: t, n: n}
	for _, o := range orders {
		b.keys = append(b.keys, values.Key{V: &eval.Vector{Kind: o.X.Type().Kind}, Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	return b
}

// add takes groups whose orders have the values of a batch. Its first row is the given row of the table.
func (b *best) add(of *operators.Batch, from int) error {
	given := slices.Clone(b.keys)
	for k := range given {
		given[k].V = of.Columns[k]
	}
	for _, i := range of.Sel {
		c := ranked{row: from + int(i), at: b.spare}
		if len(given) == 0 {
			c.prefix = b.t.Prefix(c.row)
		} else {
			c.prefix = given[0].Prefix(i)
		}
		full := len(b.heap) == b.n
		if full && c.prefix > b.heap[0].prefix {
			continue
		}
		b.keep(given, i)
		switch {
		case !full:
			b.heap = append(b.heap, c)
			b.up(len(b.heap) - 1)
			b.spare = int32(len(b.heap))
		case b.before(&c, &b.heap[0]):
			b.spare, b.heap[0] = b.heap[0].at, c
			b.down()
		}
	}
	return b.t.Err()
}

// keep copies the values of a group to the spare row.
func (b *best) keep(given []values.Key, i int32) {
	grows := b.spare == b.room
	if grows {
		b.room++
	}
	for k := range b.keys {
		v := b.keys[k].V
		if grows {
			values.Grow(v, int(b.spare), int(b.room))
		}
		v.Nulls[b.spare>>6] &^= 1 << (b.spare & 63)
		values.Copy(v, b.spare, given[k].V, i)
	}
}

// before reports whether a group comes before another one in the order.
func (b *best) before(x, y *ranked) bool {
	if x.prefix != y.prefix {
		return x.prefix < y.prefix
	}
	if c := values.CompareRows(b.keys, x.at, y.at); c != 0 {
		return c < 0
	}
	return b.t.CompareKeys(x.row, y.row) < 0
}

func (b *best) up(i int) {
	for i > 0 {
		above := (i - 1) / 2
		if b.before(&b.heap[i], &b.heap[above]) {
			return
		}
		b.heap[i], b.heap[above] = b.heap[above], b.heap[i]
		i = above
	}
}

func (b *best) down() {
	for i := 0; ; {
		last := i
		for below := 2*i + 1; below <= 2*i+2 && below < len(b.heap); below++ {
			if b.before(&b.heap[last], &b.heap[below]) {
				last = below
			}
		}
		if last == i {
			return
		}
		b.heap[i], b.heap[last] = b.heap[last], b.heap[i]
		i = last
	}
}

// rows appends the rows of the selected groups.
func (b *best) rows(to []int) []int {
	for _, c := range b.heap {
		to = append(to, c.row)
	}
	return to
}
