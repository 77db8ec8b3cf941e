package split

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/exact"
)

// TestDoublesOfAnyAmount: sums, means and extremes of groups are those of exact.Sum and of comparisons, for numbers of all amounts, NULL,
// NaN and infinities, in few groups and in many.
func TestDoublesOfAnyAmount(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "g", Type: types.Of(types.Text)},
		{Name: "x", Type: types.Of(types.Double)}}}
	a, err := Analysis(&Plan{Text: "SELECT g, count(x), sum(x), avg(x), min(x), max(x) FROM t GROUP BY g", Tables: []catalog.Table{table}})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(71, 72))
	for _, groups := range []int{1, 7, 3000} {
		type group struct {
			n          int64
			sum        exact.Sum
			infinite   float64
			least, top float64
			nan        bool
		}
		want := map[string]*group{}
		data := []byte("g,x\n")
		for range 9000 {
			key := "group of no short name " + strconv.Itoa(r.IntN(groups))
			if r.IntN(2) == 0 {
				key = strconv.Itoa(r.IntN(groups))
			}
			g := want[key]
			if g == nil {
				g = &group{least: math.Inf(1), top: math.Inf(-1)}
				want[key] = g
			}
			v := float64(r.IntN(4000)-2000) / 10
			switch r.IntN(40) {
			case 0:
				v = math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000)
			case 1:
				v = []float64{0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e15, 1 << 42}[r.IntN(7)]
			case 2:
				data = fmt.Appendf(data, "%s,\n", key)
				continue
			case 3:
				if g == want["1"] || groups > 1 && g == want["5"] {
					v = []float64{math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(3)]
				}
			}
			data = fmt.Appendf(data, "%s,%s\n", key, strconv.FormatFloat(v, []byte("fg")[r.IntN(2)], -1, 64))
			if g.n++; math.IsInf(v, 0) || v != v {
				g.infinite += v
				g.nan = g.nan || v != v
			} else {
				g.sum.Add(v)
			}
			if v == v {
				g.least, g.top = min(g.least, v+0), max(g.top, v+0)
			}
		}
		got, err := local.Run(a, fstest.MapFS{"t.csv": {Data: data}}, local.Options{})
		if err != nil || len(got.Queries[0].Rows) != len(want) {
			t.Fatalf("%d rows, %v", len(got.Queries[0].Rows), err)
		}
		for _, row := range got.Queries[0].Rows {
			g := want[fmt.Sprint(row[0])]
			sum, mean := any(g.sum.Value()), any(g.sum.Mean(g.n))
			least, top := any(g.least), any(g.top)
			if g.infinite != 0 {
				sum, mean = g.infinite, g.infinite
			}
			if g.nan {
				top = math.NaN()
			}
			if g.n == 0 {
				sum, mean, least, top = nil, nil, nil, nil
			}
			if want := []any{row[0], g.n, sum, mean, least, top}; fmt.Sprint(row) != fmt.Sprint(want) {
				t.Fatalf("of %d groups: %v, want %v", groups, row, want)
			}
		}
	}
}
