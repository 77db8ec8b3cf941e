package fold

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var histogram = Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Aggs: []Agg{{Name: "c", Kind: Counts}}}

func TestCountsAreExactWhateverTheOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, distinct := range []int64{1, 3, 1000, 1_000_000} {
		want := map[int64]int64{}
		direct, merged := NewTable(&histogram), NewTable(&histogram)
		part := NewTable(&histogram)
		for range 50 {
			for range r.IntN(2000) {
				v, n := r.Int64N(distinct)-distinct/2, 1+r.Int64N(3)
				want[v] += n
				for _, table := range []*Table{direct, part} {
					table.AddCount(table.Row(table.Key().Int(1)), 0, v, n)
				}
			}
			if err := merged.Merge(part.AppendRows(nil, part.Rows())); err != nil {
				t.Fatal(err)
			}
			part.Reset()
		}
		for _, table := range []*Table{direct, merged} {
			if !maps.Equal(maps.Collect(table.Counts(0, 0)), want) || table.Err() != nil {
				t.Fatalf("%d distinct: other counts, or %v", distinct, table.Err())
			}
			values := []int64{}
			for v := range table.Counts(0, 0) {
				values = append(values, v)
			}
			if !slices.IsSorted(values) {
				t.Fatal("out of order")
			}
		}
	}
}

func TestCountsOfTheLargestNumbersAndTimes(t *testing.T) {
	table := NewTable(&histogram)
	want := map[int64]int64{math.MinInt64: 1, -1: 2, 0: math.MaxInt64, 1: 1, math.MaxInt64: math.MaxInt64 - 1}
	for v, n := range want {
		table.AddCount(table.Row(table.Key().Int(1)), 0, v, n)
	}
	back := NewTable(&histogram)
	if err := back.Merge(canonical(table)); err != nil || !maps.Equal(maps.Collect(back.Counts(0, 0)), want) {
		t.Fatalf("%v, %v", err, maps.Collect(back.Counts(0, 0)))
	}
	for _, more := range []int64{0, 2 * fewCounts} { // a list that is not sorted, and one that is
		back := NewTable(&histogram)
		if err := back.Merge(canonical(table)); err != nil {
			t.Fatal(err)
		}
		for v := range more {
			back.AddCount(0, 0, 5+more-v, 1)
		}
		back.AddCount(0, 0, math.MaxInt64, 1)
		if back.Counts(0, 0); back.Err() != nil {
			t.Fatal(back.Err())
		}
		back.AddCount(0, 0, math.MaxInt64, 1)
		if back.Counts(0, 0); !errors.Is(back.Err(), ErrOverflow) {
			t.Fatalf("one more than an int64: %v", back.Err())
		}
	}
	for _, n := range []int64{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a number is added %d times", n)
				}
			}()
			table.AddCount(0, 0, 1, n)
		}()
	}
}

// TestResetKeepsNoCounts: cells are used again with their memory.
func TestResetKeepsNoCounts(t *testing.T) {
	table := NewTable(&histogram)
	for round := range int64(3) {
		for k := range int64(5) {
			row := table.Row(table.Key().Int(k))
			table.AddCount(row, 0, k+round, round+1)
			if got := maps.Collect(table.Counts(row, 0)); len(got) != 1 || got[k+round] != round+1 {
				t.Fatalf("round %d: %v", round, got)
			}
			for v := range round * 2 * fewCounts {
				table.AddCount(row, 0, -v, 1)
			}
		}
		table.Reset()
	}
}
