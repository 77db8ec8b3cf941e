package fold

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// stepsOf is the naive histogram: the least number of low bits without which few enough numbers are left.
func stepsOf(counts map[int64]int64, most int) (shift int, steps map[int64]int64) {
	for {
		steps = map[int64]int64{}
		for v, n := range counts {
			steps[v>>shift<<shift] += n
		}
		if len(steps) <= most {
			return shift, steps
		}
		shift++
	}
}

// TestD1_HistogramsAreTheSameWhateverTheOrder: numbers are added in random order, with repeats, to tables that are merged at random times.
func TestD1_HistogramsAreTheSameWhateverTheOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	draw := map[string]func() int64{
		"one":     func() int64 { return -7 },
		"few":     func() int64 { return r.Int64N(9) - 4 },
		"dense":   func() int64 { return r.Int64N(100_000) - 50_000 },
		"any":     func() int64 { return int64(r.Uint64()) },
		"skewed":  func() int64 { return int64(r.Uint64()) >> r.IntN(64) },
		"extreme": func() int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1, 1}[r.IntN(5)] },
	}
	for name, next := range draw {
		for _, most := range []int{2, 3, 100, 5000} {
			spec := Spec{Name: "t", Aggs: []Agg{{Name: "h", Kind: Histogram, N: most}, {Name: "s", Kind: Smallest, N: most}}}
			merged := []*Table{NewTable(&spec), NewTable(&spec)}
			counts := map[int64]int64{}
			for range 1 + r.IntN(12) {
				part := NewTable(&spec)
				for range r.IntN(4000) {
					v, n := next(), 1+r.Int64N(2)
					counts[v] += n
					row := part.Row(part.Key())
					part.AddHistogram(row, 0, v, n)
					part.AddSmallest(row, 1, v)
				}
				if err := merged[r.IntN(2)].Merge(part.AppendRows(nil, part.Rows())); err != nil {
					t.Fatal(err)
				}
			}
			if err := merged[0].Merge(merged[1].AppendRows(nil, merged[1].Rows())); err != nil || len(counts) == 0 {
				t.Fatal(err)
			}
			wantShift, want := stepsOf(counts, most)
			if shift, got := merged[0].Histogram(0, 0); shift != wantShift || !maps.Equal(maps.Collect(got), want) {
				t.Errorf("%s, at most %d steps: %d of shift %d, want %d of %d", name, most, len(maps.Collect(got)), shift, len(want), wantShift)
			}
			all := slices.Sorted(maps.Keys(counts))
			if got := merged[0].Smallest(0, 1); !slices.Equal(got, all[:min(most, len(all))]) {
				t.Errorf("%s: the smallest %d are other ones", name, most)
			}
			if !slices.Equal(roundTripOf(t, merged[0]), merged[0].AppendRows(nil, merged[0].Rows())) || merged[0].Err() != nil {
				t.Errorf("%s: a round trip changed the bytes, or %v", name, merged[0].Err())
			}
		}
	}
}

func roundTripOf(t *testing.T, table *Table) []byte {
	t.Helper()
	back := NewTable(table.Spec())
	if err := back.Merge(table.AppendRows(nil, table.Rows())); err != nil {
		t.Fatal(err)
	}
	return back.AppendRows(nil, back.Rows())
}

// TestHistogramsAreBounded: 10^6 distinct numbers take no more memory than Agg.N says, also if they come in order.
func TestHistogramsAreBounded(t *testing.T) {
	const most = 1 << 14
	spec := Spec{Name: "t", Aggs: []Agg{{Name: "h", Kind: Histogram, N: most}, {Name: "s", Kind: Smallest, N: most}}}
	r := rand.New(rand.NewPCG(9, 2))
	for name, next := range map[string]func(i int64) int64{
		"up": func(i int64) int64 { return i }, "down": func(i int64) int64 { return -i }, "any": func(int64) int64 { return int64(r.Uint64()) },
	} {
		table := NewTable(&spec)
		for i := range int64(1_000_000) {
			row := table.Row(table.Key())
			table.AddHistogram(row, 0, next(i), 1)
			table.AddSmallest(row, 1, next(i))
		}
		if n := table.Bytes(); n > 4<<20 {
			t.Errorf("%s: %d bytes", name, n)
		}
		if n := len(table.AppendRows(nil, table.Rows())); n > 12*2*most {
			t.Errorf("%s: %d bytes on the wire", name, n)
		}
	}
}

func TestAHistogramCountsNoMoreThanAnInt64(t *testing.T) {
	spec := Spec{Name: "t", Aggs: []Agg{{Name: "h", Kind: Histogram, N: 2}}}
	for _, values := range [][]int64{{5, 5}, {0, 1, 1 << 40, 1 << 41}} { // at once, and when steps become one
		table := NewTable(&spec)
		for _, v := range values {
			table.AddHistogram(table.Row(table.Key()), 0, v, math.MaxInt64)
		}
		if table.Histogram(0, 0); !errors.Is(table.Err(), ErrOverflow) {
			t.Errorf("%v: %v", values, table.Err())
		}
	}
}
