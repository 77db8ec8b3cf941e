package exec

import (
	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
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
		s := fold.Spec{Name: name + "d" + Itoa(len(specs)), Stream: stream, Keys: []fold.Key{{Name: "v", Kind: fold.KeyText}}}
		if len(g.Node.Keys) > 0 {
			s.Keys = append([]fold.Key{{Name: "k", Kind: fold.KeyText}}, s.Keys...)
		}
		specs = append(specs, s)
	}
	return specs
}

// foldDistinct adds the values of rows to a table of values.
func (w *worker) foldDistinct(t, to *fold.Table, v *eval.Vector, sel, into []int32) {
	grouped := len(w.Groups.Node.Keys) > 0
	for k, i := range sel {
		if v.IsNull(i) {
			continue
		}
		key := to.Key()
		if grouped {
			key = key.Text(t.KeyText(int(into[k]), 0))
		}
		w.key = values.Append(w.key[:0], v, i, true)
		to.Row(key.Text(w.key))
	}
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
		v := &eval.Vector{Kind: x.args[0].Type().Kind}
		r := &aggregate.Rows{Args: []*eval.Vector{v}, Sel: everyRow(nil, n), Groups: make([]int32, n)}
		for k := range n {
			key, last := t.Key(), 0
			if len(g.Node.Keys) > 0 {
				key, last = key.Text(of.KeyText(lo+k, 0)), 1
			}
			group, found := t.Find(key)
			if !found {
				return values.ErrMalformed
			}
			r.Groups[k] = int32(group)
			if _, err := values.Cut(v, k, of.KeyText(lo+k, last)); err != nil {
				return err
			}
		}
		if _, err := s.Add(r); err != nil {
			return err
		}
	}
	return nil
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
