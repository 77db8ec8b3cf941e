package operators

import (
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// grouping is the state of an Aggregation that is being computed.
type grouping struct {
	x       *Executor
	n       *plan.Aggregation
	keys    []*eval.Program
	aggs    []*input // nil for GROUPING
	index   *index
	groups  *store  // the keys of each group; NULL for keys that its set lacks
	sets    []int32 // the set of each group
	nulls   map[types.Kind]*eval.Vector
	first   []int32 // holds only 0
	of      []int32 // the group of each row
	holding int64
}

// aggregation computes groups, and passes them on in the order of their keys, NULL last. If keys are equal, the group of the earlier set
// comes first.
func (x *Executor) aggregation(n *plan.Aggregation, to sink) error {
	at := plan.LayoutOf(n.Input.Fields())
	keys, err := x.compileAll(n.Keys, at)
	if err != nil {
		return err
	}
	g := &grouping{x: x, n: n, keys: keys, index: x.newIndex(), groups: x.newStore(n.Fields()[:len(n.Keys)]),
		nulls: map[types.Kind]*eval.Vector{}, first: []int32{0}}
	defer g.release()
	for _, a := range n.Aggs {
		if a.BySet != nil { // GROUPING
			g.aggs = append(g.aggs, nil)
			continue
		}
		in, err := x.newInput(a, at)
		if err != nil {
			return err
		}
		g.aggs = append(g.aggs, in)
	}
	for set, by := range n.Sets {
		if len(by) > 0 {
			continue
		}
		if _, err := g.group(set, by, nil, 0); err != nil {
			return err
		}
	}
	if err := x.stream(n.Input, g.add); err != nil {
		return err
	}
	return g.handOn(to)
}

func (g *grouping) release() {
	g.index.release()
	g.groups.release()
	for _, in := range g.aggs {
		if in != nil {
			in.release()
		}
	}
	g.x.held -= g.holding
}

func (g *grouping) add(b *Batch) error {
	keys, failed := evalAll(g.keys, b)
	if keys == nil {
		return failed
	}
	for _, in := range g.aggs {
		if in == nil {
			continue
		}
		if err := in.eval(b); err != nil {
			if !b.UpTo(err) {
				return err
			}
			failed = b.located(err)
		}
	}
	if failed != nil { // no row before it can change the result
		return failed
	}
	for set, by := range g.n.Sets {
		g.of = g.of[:0]
		for _, i := range b.Sel {
			id, err := g.group(set, by, keys, i)
			if err != nil {
				return err
			}
			g.of = append(g.of, id)
		}
		for _, in := range g.aggs {
			if in == nil {
				continue
			}
			if err := in.add(b.Sel, g.of, len(g.sets)); err != nil {
				return err
			}
		}
	}
	return nil
}

// group returns the number of the group of a row in a set.
func (g *grouping) group(set int, by []int, keys []*eval.Vector, row int32) (int32, error) {
	g.index.key = append(g.index.key[:0], byte(set), byte(set>>8))
	for _, k := range by {
		g.index.key = values.Append(g.index.key, keys[k], row, true)
	}
	id, fresh, err := g.index.id()
	if err != nil || !fresh {
		return id, err
	}
	g.sets = append(g.sets, int32(set))
	at := []int32{row}
	bytes := int64(0)
	for k, c := range g.groups.columns {
		if !slices.Contains(by, k) {
			bytes += values.AppendRows(c, g.groups.n, g.null(c.Kind), g.first)
			continue
		}
		bytes += values.AppendRows(c, g.groups.n, keys[k], at)
		if f := c.Floats; f != nil {
			f[len(f)-1] = values.Positive(f[len(f)-1])
		}
	}
	g.groups.n++
	return id, g.groups.hold(bytes)
}

// null returns a column of one row, which is NULL.
func (g *grouping) null(k types.Kind) *eval.Vector {
	if g.nulls[k] == nil {
		g.nulls[k] = values.Gather(&eval.Vector{Kind: k}, []int32{-1})
	}
	return g.nulls[k]
}

func (g *grouping) handOn(to sink) error {
	n := len(g.sets)
	out := &store{counted: counted{x: g.x}, n: n, columns: g.groups.columns}
	for i, in := range g.aggs {
		if in == nil {
			v := eval.NewVector(types.BigInt, n)
			for row, set := range g.sets {
				v.Ints[row] = g.n.Aggs[i].BySet[set]
			}
			out.columns = append(out.columns, v)
			continue
		}
		v, err := in.result(n)
		if err != nil {
			return err
		}
		out.columns = append(out.columns, v)
	}
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	keys := []values.Key{}
	for _, k := range g.groups.columns {
		keys = append(keys, values.Key{V: k})
	}
	set := &eval.Vector{Ints: make([]int64, n)}
	for i, s := range g.sets {
		set.Ints[i] = int64(s)
	}
	values.Sort(rows, append(keys, values.Key{V: set}), g.x.pause)
	return out.order(rows, to)
}
