package operators

import (
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

func benchWorld(n int) *world {
	w := &world{source: &Tables{Rows: map[string]*Batch{}, Batch: 0}}
	a, b, x := eval.NewVector(types.BigInt, n), eval.NewVector(types.BigInt, n), eval.NewVector(types.Double, n)
	for i := range n {
		a.Ints[i], b.Ints[i], x.Floats[i] = int64(i*7919%n), int64(i%100), float64(i%1000)/4
	}
	f, l := eval.NewVector(types.Text, n), eval.NewVector(types.BigInt, n)
	w.tables = append(w.tables, plan.Table{Name: "n", Fields: []plan.Field{{Name: "a", Type: types.Of(types.BigInt)},
		{Name: "b", Type: types.Of(types.BigInt)}, {Name: "x", Type: types.Of(types.Double)}}})
	w.source.Rows["n"] = &Batch{Columns: []*eval.Vector{a, b, x, f, l}, N: n}
	return w
}

func BenchmarkTail(b *testing.B) {
	w := benchWorld(1_000_000)
	for _, text := range []string{
		"SELECT b, count(*), sum(x) FROM n GROUP BY b",
		"SELECT a, count(*), sum(x) FROM n GROUP BY a",
		"SELECT a FROM n ORDER BY a LIMIT 10",
		"SELECT DISTINCT a FROM n",
		"SELECT count(*) FROM n AS l JOIN n AS r USING (a)",
		"SELECT sum(s) FROM (SELECT sum(b) OVER (PARTITION BY b ORDER BY a) AS s FROM n)",
		"SELECT median(x) FROM n GROUP BY b",
	} {
		b.Run(text, func(b *testing.B) {
			plan, err := w.plan(text)
			if err != nil {
				b.Fatal(err)
			}
			for range b.N {
				if _, err := New(w.source, 4<<30, plan).Run(plan); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
