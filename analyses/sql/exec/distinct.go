package exec

import (
	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// An aggregate of DISTINCT values has a table of its own, with a row for each group and value. Joiners and aggregators merge
// these rows as they merge groups. The reducer adds each value once to the cells that the same aggregate has without
// DISTINCT.

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

// distinct returns the states of the aggregates of DISTINCT values, made of their complete tables. The groups are the rows of t. It does
// not change the tables, because a reducer may read them again.
func (g *groups) distinct(t *fold.Table, tables []*fold.Table) ([]aggregate.State, error) {
	states := make([]aggregate.State, len(g.Aggs))
	for a := range g.Aggs {
		x := &g.Aggs[a]
		if !x.distinct {
			continue
		}
		states[a] = x.state()
		states[a].Grow(t.Len())
		of := tables[0]
		tables = tables[1:]
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
					return nil, values.ErrMalformed
				}
				r.Groups[k] = int32(group)
				if _, err := values.Cut(v, k, of.KeyText(lo+k, last)); err != nil {
					return nil, err
				}
			}
			if _, err := states[a].Add(r); err != nil {
				return nil, err
			}
		}
	}
	return states, nil
}
