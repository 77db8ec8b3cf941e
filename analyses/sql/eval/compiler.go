package eval

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// compiler makes the kernels of one program. A plan is a graph, in which a part that is used twice occurs once. Such a part
// gets one kernel, so compiling and computing take time in proportion to the graph. As a tree, a chain of aliases that each
// use the previous one twice would grow exponentially.
type compiler struct {
	users  map[plan.Expr]int           // how many other parts use a part
	reads  map[plan.Expr]plan.ColumnID // the only column that a part reads, if that is a TEXT; else noColumn or manyColumns
	at     plan.Layout                 // of the rows; nil if nothing will be computed
	made   map[shareKey]*shared
	within plan.Expr // the part that is computed per entry of a dictionary; nil outside of such a part
	of     *account
}

type shareKey struct{ e, within plan.Expr }

// Values of reads for a part that does not read exactly one column of texts.
const (
	noColumn    plan.ColumnID = -1
	manyColumns plan.ColumnID = -2
)

func newCompiler(e plan.Expr, at plan.Layout, of *account) *compiler {
	c := &compiler{of: of, users: map[plan.Expr]int{}, at: at, reads: map[plan.Expr]plan.ColumnID{}, made: map[shareKey]*shared{}}
	c.walk(e)
	return c
}

// walk counts the users of each part, and finds which columns it reads.
func (c *compiler) walk(e plan.Expr) plan.ColumnID {
	if c.users[e]++; c.users[e] > 1 {
		return c.reads[e]
	}
	reads, parts := noColumn, plan.Children(e)
	switch e := e.(type) {
	case *plan.Column:
		if reads = e.ID; e.T.Kind != types.Text {
			reads = manyColumns
		}
	case *Member:
		reads, parts = manyColumns, []plan.Expr{e.X} // the executor provides Test, which may look at the rows
	}
	for _, part := range parts {
		switch r := c.walk(part); {
		case reads == noColumn:
			reads = r
		case r != noColumn && r != reads:
			reads = manyColumns
		}
	}
	c.reads[e] = reads
	return reads
}

// compile returns the kernel of an expression or of a part.
func (c *compiler) compile(e plan.Expr) (node, error) {
	out := Vector{Kind: e.Type().Kind}
	switch e := e.(type) {
	case *plan.Const:
		return &constant{value: e.Value, out: out}, nil
	case *plan.Column:
		at, found := c.at[e.ID]
		if c.at != nil && !found { // E1: a column keeps its number from the node that makes it to the one that reads it
			return nil, fmt.Errorf("column %d (%s) of the plan is not among those that it reads", e.ID, e.Name)
		}
		return &column{at}, nil
	}
	key := shareKey{e, c.within}
	if c.users[e] > 1 {
		if n := c.made[key]; n != nil {
			return n, nil
		}
	}
	entries := c.within == nil && c.reads[e] >= 0
	if entries {
		c.within = e
	}
	n, err := c.kernel(e, out)
	if entries {
		c.within = nil
		n = &perEntry{x: n, column: c.at[c.reads[e]], of: c.of, out: out, values: Vector{Kind: out.Kind}}
	}
	if err != nil || c.users[e] == 1 {
		return n, err
	}
	s := &shared{x: n, out: out}
	c.made[key] = s
	return s, nil
}

func (c *compiler) kernel(e plan.Expr, out Vector) (node, error) {
	switch e := e.(type) {
	case *Member:
		x, err := c.compile(e.X)
		return &member{x, e.Test, out}, err
	case *plan.Cast:
		return c.cast(e, out)
	case *plan.Apply:
		if f := types.Find(e.Func); f != nil && f.Slow {
			c.of.meter.slow = true
		}
		if n, err := c.splits(e, out); n != nil || err != nil {
			return n, err
		}
		args := make([]node, len(e.Args))
		for i, a := range e.Args {
			var err error
			if args[i], err = c.compile(a); err != nil {
				return nil, err
			}
		}
		return c.apply(e, args, out)
	}
	return nil, &Unsupported{e.Pos(), fmt.Sprintf("%T", e)}
}

// shared is a part that several others use. A row is computed when the first of them asks for it.
type shared struct {
	x    node
	of   *batch // the batch that done and out are about
	done []bool
	sel  []int32
	out  Vector
}

func (k *shared) eval(b *batch, sel []int32) (*Vector, error) {
	if k.of != b {
		k.of = b
		k.done = room(k.done, b.n)
		clear(k.done)
		k.out.reset(b.n)
	}
	k.sel = k.sel[:0]
	for _, i := range sel {
		if !k.done[i] {
			k.sel = append(k.sel, i)
		}
	}
	if len(k.sel) == 0 {
		return &k.out, nil
	}
	v, err := k.x.eval(b, k.sel)
	if err != nil {
		return nil, err
	}
	k.out.take(v, k.sel)
	for _, i := range k.sel {
		k.done[i] = true
	}
	return &k.out, nil
}

// perEntry is a part that reads only one column of texts. If the column has a dictionary, the part is computed once for each
// entry that a row needs.
type perEntry struct {
	x       node
	column  int
	dict    *Dict // the dictionary that values belongs to
	batch   uint64
	done    []bool // by code, whether values has it
	entries Vector // stands in for the column: all texts of the dictionary, and NULL after them
	columns []*Vector
	sel     []int32
	codes   []uint32 // by row; NULL has a code, too
	values  Vector
	kept    int64 // bytes that the texts of values take
	of      *account
	out     Vector
}

func (k *perEntry) eval(b *batch, sel []int32) (*Vector, error) {
	v := b.columns[k.column]
	if v.Dict == nil || 2*len(v.Dict.Texts) > v.Dict.Rows {
		return k.x.eval(b, sel)
	}
	if k.dict != v.Dict || k.batch != v.Dict.Batch || k.kept > manyBytes {
		k.begin(v.Dict)
	}
	null := uint32(len(v.Dict.Texts))
	k.sel, k.codes = k.sel[:0], room(k.codes, b.n)
	for _, i := range sel {
		code := v.Codes[i]
		if v.IsNull(i) {
			code = null
		}
		k.codes[i] = code
		if !k.done[code] {
			k.done[code] = true
			k.sel = append(k.sel, int32(code))
		}
	}
	if len(k.sel) > 0 {
		slices.Sort(k.sel)
		before := k.of.held
		found, err := k.x.eval(&batch{k.columns, len(k.done)}, k.sel)
		if err != nil { // compute by rows, to find the first row that fails
			k.dict, k.values = nil, Vector{Kind: k.values.Kind}
			k.of.to(before)
			return k.x.eval(b, sel)
		}
		k.kept += k.of.held - before
		k.values.take(found, k.sel)
	}
	k.out.reset(b.n)
	k.out.gather(&k.values, k.codes, sel)
	k.out.Codes, k.out.Entries = k.codes, len(k.done)
	return &k.out, nil
}

// begin starts with another dictionary.
func (k *perEntry) begin(d *Dict) {
	k.dict, k.batch = d, d.Batch
	n := len(d.Texts)
	k.done = room(k.done, n+1)
	clear(k.done)
	if k.kept > 0 {
		k.kept, k.values = 0, Vector{Kind: k.values.Kind}
	}
	k.values.reset(n + 1)
	k.entries.Kind = types.Text
	k.entries.reset(n + 1)
	copy(k.entries.Texts, d.Texts)
	k.entries.Texts[n] = ""
	k.entries.SetNull(int32(n))
	for len(k.columns) <= k.column {
		k.columns = append(k.columns, nil)
	}
	k.columns[k.column] = &k.entries
}

// gather gives each selected row the value that has its code.
func (v *Vector) gather(from *Vector, codes []uint32, sel []int32) {
	switch v.Kind {
	case types.Double:
		gatherRows(v.Floats, from.Floats, codes, sel)
	case types.Bool:
		gatherRows(v.Bools, from.Bools, codes, sel)
	case types.Text:
		gatherRows(v.Texts, from.Texts, codes, sel)
	case types.Interval:
		gatherRows(v.Intervals, from.Intervals, codes, sel)
	case types.TextList:
		gatherRows(v.Lists, from.Lists, codes, sel)
	default:
		gatherRows(v.Ints, from.Ints, codes, sel)
	}
	if from.Any {
		for _, i := range sel {
			if from.IsNull(int32(codes[i])) {
				v.SetNull(i)
			}
		}
	}
}

func gatherRows[T any](to, from []T, codes []uint32, sel []int32) {
	for _, i := range sel {
		to[i] = from[codes[i]]
	}
}
