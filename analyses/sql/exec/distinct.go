package exec

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// An aggregate of DISTINCT values has a table of its own, with a row for each group and value. Joiners and aggregators merge
// these rows as they merge groups. The reducer adds each value once to the cells that the same aggregate has without
// DISTINCT.

// takesDistinct reports whether an aggregate must fold each distinct value only once; plain is its name without DISTINCT.
func takesDistinct(a *plan.Aggregate) (plain string, distinct bool) {
	if a.Func == "approx_count_distinct" {
		return "count", true
	}
	f := types.Find(a.Func)
	return a.Func, a.Distinct && (f == nil || !f.Once)
}

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

// foldDistinct adds the values of rows to the table of values.
func (w *worker) foldDistinct(t, values *fold.Table, v *eval.Vector, sel []int32, into []int) {
	grouped := len(w.Groups.Node.Keys) > 0
	for k, i := range sel {
		if v.IsNull(i) {
			continue
		}
		key := values.Key()
		if grouped {
			key = key.Text(t.KeyText(into[k], 0))
		}
		w.key = appendValue(w.key[:0], v, i, true)
		values.Row(key.Text(w.key))
	}
}

// distinct computes the aggregates of DISTINCT values from their complete tables. It does not change the tables, because a reducer may read
// them again.
func (g *groups) distinct(stream string, tables []*fold.Table) (*fold.Table, error) {
	spec := g.spec("distinct", stream)
	sums := fold.NewTable(&spec)
	grouped := len(g.Node.Keys) > 0
	next, scratch := 0, []byte(nil)
	for i := range g.Aggs {
		x := &g.Aggs[i]
		if !x.distinct {
			continue
		}
		values := tables[next]
		next++
		added := Accumulator{}
		for lo := 0; lo < values.Len(); lo += AtOnce {
			values.Pause()
			n := min(AtOnce, values.Len()-lo)
			v := &eval.Vector{Kind: x.arg.Type().Kind}
			into := make([]int, n)
			for k := range n {
				key, last := sums.Key(), 0
				if grouped {
					key, last = key.Text(values.KeyText(lo+k, 0)), 1
				}
				into[k] = sums.Row(key)
				if _, err := CutValue(v, k, values.KeyText(lo+k, last)); err != nil {
					return nil, err
				}
			}
			added.add(x, sums, v, everyRow(nil, n), into, nil)
		}
		scratch = added.settle(x, sums, scratch)
	}
	return sums, sums.Err()
}
