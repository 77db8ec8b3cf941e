package exec

import (
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// groups is an aggregation that tables can hold. The table has a row for each group.
type groups struct {
	Node    *plan.Aggregation
	Aggs    []folded
	cells   []fold.Agg
	columns bool // the table has the group's keys as its keys: see KeyColumns
}

// folded is an aggregate whose state is in cells of a table.
type folded struct {
	from     *plan.Aggregate
	of       *aggregate.Aggregate
	args     []plan.Expr // none: count(*)
	cell     int         // the first of its cells
	distinct bool        // DISTINCT: the values are in a table of their own, and only the reducer has a state
}

func (x *folded) state() aggregate.State {
	return x.of.New(aggregate.Call{At: x.from.At, Type: x.from.T, Args: x.args})
}

// NewGroups returns how tables fold an aggregation, nil if they cannot.
func NewGroups(a *plan.Aggregation) *groups {
	if len(a.Sets) != 1 || len(a.Sets[0]) != len(a.Keys) {
		return nil
	}
	for _, k := range a.Keys {
		if !values.Ordered(k.Type().Kind) || !Computed(k) {
			return nil
		}
	}
	g := &groups{Node: a}
	for _, agg := range a.Aggs {
		if !g.add(agg) {
			return nil
		}
	}
	if len(g.cells) > fold.MaxAggs {
		return nil
	}
	if len(a.Keys) == 0 && len(g.cells) == 0 { // SELECT 1 FROM t GROUP BY (): a table has a column at least
		g.cells = []fold.Agg{{Name: "a0", Kind: fold.Sum}}
	}
	return g
}

// add adds an aggregate; false if it does not fold.
func (g *groups) add(a *plan.Aggregate) bool {
	of := aggregate.Find(a.Func)
	if of == nil || len(a.Order) > 0 || a.Filter != nil && !Computed(a.Filter) { // GROUPING is not an aggregate
		return false
	}
	x := folded{from: a, of: of, args: of.Arguments(a.Args), cell: len(g.cells), distinct: of.Distinct || a.Distinct && !of.Once}
	if slices.ContainsFunc(x.args, func(e plan.Expr) bool { return !Computed(e) }) {
		return false
	}
	cells := x.state().Cells()
	switch {
	case cells == nil || of.Whole && len(g.Node.Keys) > 0:
		return false
	case x.distinct && (of.Placed || of.Whole || len(x.args) != 1 || !values.Ordered(x.args[0].Type().Kind)):
		return false
	}
	for _, c := range cells {
		c.Name = "a" + Itoa(len(g.cells))
		g.cells = append(g.cells, c)
	}
	g.Aggs = append(g.Aggs, x)
	return true
}

func (g *groups) spec(name, stream string) fold.Spec {
	keys := g.keysOf()
	return fold.Spec{Name: name, Stream: stream, Keys: keys, Aggs: g.cells, Nulls: g.columns && len(keys) > 0}
}

// Positioned reports whether an aggregate keeps the place of a row.
func (g *groups) Positioned() bool {
	return slices.ContainsFunc(g.Aggs, func(x folded) bool { return x.of.Placed })
}

// Apart reports whether an aggregate is over DISTINCT values, which are in a table of their own.
func (g *groups) Apart() bool {
	return slices.ContainsFunc(g.Aggs, func(x folded) bool { return x.distinct })
}

// light reports whether the state of a group is so small that a row may travel as a group of its own.
func (g *groups) light() bool {
	return !slices.ContainsFunc(g.cells, func(c fold.Agg) bool { return c.Kind != fold.Sum && c.Kind != fold.Exact })
}

// rows yields the groups of a complete table, by key unless they may come in any order. The first table holds the groups; the tables of
// DISTINCT values follow. If a cut is given, groups that it leaves out may be missing.
func (g *groups) rows(tables []*fold.Table, cut *Cut, anyOrder bool, yield func(*operators.Batch) error) error {
	t := tables[0]
	if len(g.Node.Keys) == 0 && t.Len() == 0 { // without keys there is a group even for no rows
		t.Row(t.Key())
	}
	apart, err := g.distinct(t, tables[1:])
	if err != nil {
		return err
	}
	order := t.Rows()
	if some := cut.rows(t); some != nil && apart == nil {
		order = some
	}
	if !anyOrder {
		t.SortByKey(order)
	}
	return g.some(t, apart, order, nil, yield)
}

// some yields the given groups of a table. apart has the states of aggregates of DISTINCT values, whose groups are the rows of the table.
// If wanted is not nil, the other columns are nil. An error of their values is returned nevertheless.
func (g *groups) some(t *fold.Table, apart []aggregate.State, order []int, wanted []bool, yield func(*operators.Batch) error) error {
	for lo := 0; lo < len(order); lo += AtOnce {
		part := order[lo:min(lo+AtOnce, len(order))]
		r, states, err := g.decode(t, part, wanted)
		if err != nil {
			return err
		}
		for a, s := range states {
			if s == nil {
				r.Columns = append(r.Columns, nil)
				continue
			}
			v := eval.NewVector(g.Aggs[a].from.T.Kind, len(part))
			for i, row := range part {
				of := int32(i)
				if apart != nil && apart[a] != nil {
					s, of = apart[a], int32(row)
				}
				if err := s.Value(of, v, int32(i)); err != nil {
					return err
				}
			}
			r.Columns = append(r.Columns, v)
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// decode returns rows with the keys of some groups, and the states of these groups, which have the numbers of the rows. If wanted is not
// nil, keys that are not wanted are nil, and so are the states of other aggregates unless their values may be errors.
func (g *groups) decode(t *fold.Table, part []int, wanted []bool) (*operators.Batch, []aggregate.State, error) {
	t.Pause()
	keys := len(g.Node.Keys)
	columns, err := g.decodeKeys(t, part, wanted)
	if err != nil {
		return nil, nil, err
	}
	r := &operators.Batch{N: len(part), Columns: columns}
	states := make([]aggregate.State, len(g.Aggs))
	for a := range g.Aggs {
		x := &g.Aggs[a]
		if wanted != nil && !wanted[keys+a] && x.of.Fails == "" {
			continue
		}
		states[a] = x.state()
		states[a].Grow(len(part))
		for i, row := range part {
			if err := states[a].Decode(t, x.cell, row, int32(i)); err != nil {
				return nil, nil, err
			}
		}
	}
	return r, states, nil
}

// exceeded is a sum of a group that exceeds BIGINT.
type exceeded struct {
	group, agg int
	sum        int64
}

// early yields groups that were grouped early, in the table's order. A sum that does not fit its type is an error only if its key has a
// partner: then the final sum must not fit either. It is a multiple of this one, since all rows of a final group have the same key. So
// the greatest sum is yielded twice: the second time in a row with the same keys, whose other aggregates are those of no rows.
func (g *groups) early(t *fold.Table, yield func(*operators.Batch) error) error {
	order := t.Rows()
	for lo := 0; lo < len(order); lo += AtOnce {
		part := order[lo:min(lo+AtOnce, len(order))]
		r, states, err := g.decode(t, part, nil)
		if err != nil {
			return err
		}
		var again []exceeded
		for a, s := range states {
			v := eval.NewVector(g.Aggs[a].from.T.Kind, len(part))
			for i := range int32(len(part)) {
				err := s.Value(i, v, i)
				if err == nil {
					continue
				}
				long, ok := s.(aggregate.Saturated)
				if !ok {
					return err
				}
				exceeds := false
				if v.Ints[i], exceeds = long.Saturate(i); exceeds {
					again = append(again, exceeded{int(i), a, v.Ints[i]})
				}
			}
			r.Columns = append(r.Columns, v)
		}
		if err := yield(r); err != nil {
			return err
		}
		if err := g.again(r, again, yield); err != nil {
			return err
		}
	}
	return nil
}

// again yields a row for each of some sums, with the keys of its group, in which all other aggregates are those of no rows.
func (g *groups) again(of *operators.Batch, sums []exceeded, yield func(*operators.Batch) error) error {
	if len(sums) == 0 {
		return nil
	}
	rows := make([]int32, len(sums))
	for i, s := range sums {
		rows[i] = int32(s.group)
	}
	r := &operators.Batch{N: len(sums)}
	for _, key := range of.Columns[:len(g.Node.Keys)] {
		r.Columns = append(r.Columns, values.Gather(key, rows))
	}
	for a := range g.Aggs {
		v, none := eval.NewVector(g.Aggs[a].from.T.Kind, len(sums)), g.Aggs[a].state()
		none.Grow(1)
		for i, s := range sums {
			if s.agg == a {
				v.Ints[i] = s.sum
			} else if err := none.Value(0, v, int32(i)); err != nil {
				return err
			}
		}
		r.Columns = append(r.Columns, v)
	}
	return yield(r)
}
