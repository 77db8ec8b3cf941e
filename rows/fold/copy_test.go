package fold

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestD1_CopiesAreMerges: rows that move from table to table make the same cells of every kind as their wire form does, in tables that look
// keys up and in those that do not.
func TestD1_CopiesAreMerges(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 8))
		its := items(r, 1+r.IntN(3000))
		for name, to := range map[string]*Table{"looked up": NewTable(&every), "unmerged": NewUnmerged(&every)} {
			for _, part := range split(r, its) {
				part.MoveTo(to)
			}
			if to.Merged() < to.Len() || to.Err() != nil {
				t.Fatal(to.Merged(), to.Len(), to.Err())
			}
			got := NewTable(&every)
			merge(t, got, to, to.Rows())
			if got, want := dump(got), model(its); got != want {
				t.Fatalf("seed %d, %s: %s", seed, name, diff(got, want))
			}
			to.Reset()
			if to.Merged() != 0 {
				t.Error("an empty table has merged rows")
			}
		}
	}
}

// TestAddSumsIsAddSum for every row, and sees an overflow anywhere.
func TestAddSumsIsAddSum(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Aggs: []Agg{{Name: "n", Kind: Sum}}}
	for _, rows := range []int{0, 1, cellBlock, 2*cellBlock + 5} {
		table := NewTable(&spec)
		values := make([]int64, rows)
		for i := range rows {
			table.Row(table.Key().Int(int64(i)))
			values[i] = int64(i)
		}
		table.AddSums(0, values)
		table.AddSums(0, values[:rows/2])
		for i := range rows {
			want := int64(i)
			if i < rows/2 {
				want *= 2
			}
			if table.Sum(i, 0) != want {
				t.Fatalf("row %d of %d: %d", i, rows, table.Sum(i, 0))
			}
		}
		if rows == 0 {
			continue
		}
		if table.Err() != nil {
			t.Fatal(table.Err())
		}
		table.AddSum(rows-1, 0, math.MaxInt64-table.Sum(rows-1, 0))
		values[rows-1] = 1
		if table.AddSums(0, values); !errors.Is(table.Err(), ErrOverflow) {
			t.Errorf("%d rows: %v", rows, table.Err())
		}
	}
}

// TestLooseTables: rows of an outgoing table come without a look-up until it is emptied, and whoever gets them merges them. No other table
// gets loose, and none that is not outgoing takes over a loose one as it is.
func TestLooseTables(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	its := items(r, 2000)
	for name, to := range map[string]*Table{"outgoing": NewOutgoing(&every), "table": NewTable(&every)} {
		from := NewOutgoing(&every)
		for round := range 2 {
			for i, it := range its {
				if it.addTo(from); i == 500+round {
					from.Loosen()
				}
			}
			if from.Len() < 1499 || !from.Loose() {
				t.Fatalf("%d rows", from.Len())
			}
			if from.MoveTo(to); from.Loose() || from.Len() > 0 || to.Err() != nil {
				t.Fatal(from.Len(), to.Err())
			}
		}
		if name == "table" {
			if to.Loosen(); to.Loose() {
				t.Error("a table that is not outgoing is loose")
			}
		}
		got := NewTable(&every)
		merge(t, got, to, to.Rows())
		if got, want := dump(got), model(append(its, its...)); got != want {
			t.Fatalf("%s: %s", name, diff(got, want))
		}
		if to.Reset(); to.Loose() {
			t.Error("an empty table is loose")
		}
	}
}

// TestExpectLeavesTheIndexInPlace: a table that has room finds what it finds without.
func TestExpectLeavesTheIndexInPlace(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}}
	table := NewTable(&spec)
	for _, rows := range []int64{0, 10, 5000} {
		table.Expect(int(2 * rows))
		slots := len(table.index.slots)
		for k := range rows {
			table.Row(table.Key().Int(k))
		}
		for k := range rows {
			if row, found := table.Find(table.Key().Int(k)); !found || row != int(k) {
				t.Fatal(k, row, found)
			}
		}
		if len(table.index.slots) != slots || slots < int(3*rows) {
			t.Errorf("%d slots for %d rows, and %d before", len(table.index.slots), rows, slots)
		}
	}
}
