package split

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/types"
)

// TestD1_SumsOfNumbersWithConstants: aggregates that add up the same numbers with other constants have the values that big numbers have: in
// one group, few and many, with NULLs, with numbers that are too large to be added up together, and with constants at both ends.
func TestD1_SumsOfNumbersWithConstants(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "g", Type: types.Of(types.Text)},
		{Name: "x", Type: types.Of(types.BigInt)}}}
	constants := []int64{0, 1, -1, 90, 1<<40 - 1, -(1<<40 - 1), 1 << 40, 1 << 50}
	text := "SELECT g, count(x), avg(x + 2), sum(7 + x) FILTER (WHERE x > 3), sum(3 - x)"
	for _, c := range constants {
		text += fmt.Sprintf(", sum(x + %d), sum(%d + x), sum(x - %d)", c, c, c)
	}
	a, err := Analysis(&Plan{Text: text + " FROM t GROUP BY g", Tables: []catalog.Table{table}})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(81, 82))
	for _, groups := range []int{1, 7, 3000} {
		for _, far := range []int64{1 << 10, 1 << 39, 1 << 41} {
			values := map[string][]int64{}
			data := []byte("g,x\n")
			for range 9000 {
				g := fmt.Sprint("group ", r.IntN(groups))
				if _, known := values[g]; !known {
					values[g] = nil
				}
				if r.IntN(9) == 0 {
					data = fmt.Appendf(data, "%s,\n", g)
					continue
				}
				v := r.Int64N(2*far) - far
				values[g] = append(values[g], v)
				data = fmt.Appendf(data, "%s,%d\n", g, v)
			}
			got, err := local.Run(a, fstest.MapFS{"t.csv": {Data: data}}, local.Options{})
			if err != nil || len(got.Queries[0].Rows) != len(values) {
				t.Fatalf("%d rows, %v", len(got.Queries[0].Rows), err)
			}
			for _, row := range got.Queries[0].Rows {
				want := wantedSums(values[fmt.Sprint(row[0])], constants)
				if fmt.Sprint(row[1:]) != fmt.Sprint(want) {
					t.Fatalf("%d groups up to %d, %v: %v, want %v", groups, far, row[0], row[1:], want)
				}
			}
		}
	}
}

// wantedSums are the aggregates of the test above, computed one by one.
func wantedSums(x []int64, constants []int64) []any {
	if len(x) == 0 {
		return append([]any{int64(0)}, make([]any, 3+3*len(constants))...)
	}
	sum := func(of func(v int64) (int64, bool)) any {
		all, some := new(big.Int), false
		for _, v := range x {
			if v, counts := of(v); counts {
				some = true
				all.Add(all, big.NewInt(v))
			}
		}
		if !some {
			return nil
		}
		return all.Int64()
	}
	two := sum(func(v int64) (int64, bool) { return v + 2, true }).(int64)
	mean, _ := new(big.Rat).SetFrac(big.NewInt(two), big.NewInt(int64(len(x)))).Float64()
	want := []any{int64(len(x)), mean, sum(func(v int64) (int64, bool) { return v + 7, v > 3 }),
		sum(func(v int64) (int64, bool) { return 3 - v, true })}
	for _, c := range constants {
		plus := sum(func(v int64) (int64, bool) { return v + c, true })
		want = append(want, plus, plus, sum(func(v int64) (int64, bool) { return v - c, true }))
	}
	return want
}

// TestD1_SumsOfNumbersThatExceed: a row whose number does not fit is an error, also if others add up the same numbers, in one group or two.
func TestD1_SumsOfNumbersThatExceed(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "x", Type: types.Of(types.BigInt)},
		{Name: "g", Type: types.Of(types.Text)}}}
	data := fmt.Sprintf("x,g\n%d,a\n%s", int64(math.MaxInt64-1), strings.Repeat("-5,a\n-5,b\n", 2500))
	for _, by := range []string{"", " GROUP BY g"} {
		a, err := Analysis(&Plan{Text: "SELECT sum(x + 1), sum(x + 2) FROM t" + by, Tables: []catalog.Table{table}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := local.Run(a, fstest.MapFS{"t.csv": {Data: []byte(data)}}, local.Options{}); err == nil ||
			!strings.Contains(err.Error(), "does not fit into a BIGINT") {
			t.Errorf("%s: %v", by, err)
		}
	}
}
