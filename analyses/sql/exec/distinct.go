package exec

import (
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// An aggregate of DISTINCT values has a table of its own, with a row for each group and value. Joiners and aggregators merge
// these rows as they merge groups. An aggregator has all values of its groups, and adds each once to the cells that the same aggregate has
// without DISTINCT. So only groups leave it. Values that leave it nevertheless, the reducer adds.

// DistinctSpecs describes the tables of values.
func (g *groups) DistinctSpecs(name, stream string) (specs []fold.Spec) {
	for i := range g.Aggs {
		if !g.Aggs[i].distinct {
			continue
		}
		s := fold.Spec{Name: name + "d" + Itoa(len(specs)), Stream: stream, Keys: g.keysOf(), Nulls: g.columns && len(g.Node.Keys) > 0}
		value := fold.Key{Name: "v", Kind: fold.KeyText}
		if g.columns {
			value.Kind = keyKind(g.Aggs[i].args[0].Type().Kind)
		}
		s.PartitionBy, s.Keys = len(s.Keys), append(s.Keys, value)
		specs = append(specs, s)
	}
	return specs
}

// foldDistinct adds the values of rows to a table of values.
func (w *worker) foldDistinct(t, to *fold.Table, v *eval.Vector, sel, into []int32) error {
	m := &w.maker
	m.fresh, m.codes = m.fresh[:0], m.codes[:0]
	for k, i := range sel {
		if !v.IsNull(i) {
			m.fresh, m.codes = append(m.fresh, i), append(m.codes, into[k])
		}
	}
	if g := w.Groups; g.columns && (w.whole || len(g.Node.Keys) == 0) {
		keys, err := m.of(append(slices.Clip(w.vector), v), m.fresh)
		if err == nil {
			m.found = to.RowsOf(keys, m.fresh, m.found[:0])
		}
		return err
	}
	for k, i := range m.fresh {
		key := to.Key()
		if len(w.Groups.Node.Keys) > 0 {
			key = key.As(t, int(m.codes[k]))
		}
		if !w.Groups.columns {
			w.key = values.Append(w.key[:0], v, i, true)
			to.Row(key.Text(w.key))
		} else if v.Kind == types.Text {
			to.Row(key.String(v.Texts[i]))
		} else {
			to.Row(key.Int(int64(eval.Sortable(v, i) ^ 1<<63)))
		}
	}
	return nil
}

// distinct returns the states of the aggregates of DISTINCT values, made of their complete tables and of the cells of the groups, which are
// the rows of t; nil if no table has values. It does not change the tables, because a reducer may read them again.
func (g *groups) distinct(t *fold.Table, tables []*fold.Table) (states []aggregate.State, err error) {
	at := 0
	for a := range g.Aggs {
		x := &g.Aggs[a]
		if !x.distinct {
			continue
		}
		of := tables[at]
		if at++; of.Len() == 0 {
			continue
		}
		s := x.state()
		s.Grow(t.Len())
		for row := range t.Len() {
			if err := s.Decode(t, x.cell, row, int32(row)); err != nil {
				return nil, err
			}
		}
		if err := g.addValues(s, x, t, of); err != nil {
			return nil, err
		}
		if states == nil {
			states = make([]aggregate.State, len(g.Aggs))
		}
		states[a] = s
	}
	return states, nil
}

// addValues adds the values of a table to the state of an aggregate.
func (g *groups) addValues(s aggregate.State, x *folded, t, of *fold.Table) error {
	for lo := 0; lo < of.Len(); lo += AtOnce {
		of.Pause()
		n := min(AtOnce, of.Len()-lo)
		rows := make([]int, n)
		for k := range rows {
			rows[k] = lo + k
		}
		found, ok := t.RowsAs(of, rows)
		if !ok {
			return values.ErrMalformed
		}
		r := &aggregate.Rows{Sel: everyRow(nil, n), Groups: found}
		if !x.of.Counts { // none of the values is NULL
			v, err := g.valuesOf(of, x.args[0].Type().Kind, rows)
			if err != nil {
				return err
			}
			r.Args = []*eval.Vector{v}
		}
		if _, err := s.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// valuesOf returns the values in some rows of a table of values.
func (g *groups) valuesOf(of *fold.Table, kind types.Kind, rows []int) (*eval.Vector, error) {
	last := len(of.Spec().Keys) - 1
	if g.columns {
		return readKey(of, last, kind, rows), nil
	}
	v := &eval.Vector{Kind: kind}
	for k, row := range rows {
		if _, err := values.Cut(v, k, of.KeyText(row, last)); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// settleDistinct adds the values of DISTINCT aggregates to the cells of their groups, and empties the tables of values. The tables have all
// values of their groups, or, if there are no keys, values that no other aggregator has.
func (g *groups) settleDistinct(t *fold.Table, tables []*fold.Table) error {
	for a := range g.Aggs {
		x := &g.Aggs[a]
		if !x.distinct {
			continue
		}
		of := tables[0]
		if tables = tables[1:]; of.Len() == 0 {
			continue
		}
		if len(g.Node.Keys) == 0 {
			t.Row(t.Key())
		}
		s := x.state()
		s.Grow(t.Len())
		if err := g.addValues(s, x, t, of); err != nil {
			return err
		}
		s.Encode(t, x.cell)
		of.Retain(func(int) bool { return false })
	}
	return t.Err()
}
