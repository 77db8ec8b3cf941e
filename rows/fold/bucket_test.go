package fold

import (
	"fmt"
	"slices"
	"testing"
)

// TestBucketed_EachRowOnce: every row from the given one on is in the bucket of its key, in order, in tables of any partition.
func TestBucketed_EachRowOnce(t *testing.T) {
	spec := &Spec{Name: "t", Stream: "s", Keys: []Key{{"k", KeyText}}, Aggs: []Agg{{Name: "n", Kind: Sum}}}
	for _, of := range []uint64{1, 2, 3, 64} {
		table := NewTable(spec)
		for i := 0; table.Len() < 20000; i++ {
			k := table.Key().String(fmt.Sprint(i))
			if Hash(k.bytes())%of == 0 {
				table.Row(k)
			}
		}
		const from = 5
		seen, most := make([]bool, table.Len()), 0
		buckets := table.Bucketed(from)
		for b, rows := range buckets {
			if most = max(most, len(rows)); !slices.IsSorted(rows) {
				t.Fatalf("bucket %d is not in order", b)
			}
			for _, row := range rows {
				if seen[row] || row < from || Bucket(Hash(table.index.key(row))) != b {
					t.Fatalf("row %d is in bucket %d", row, b)
				}
				seen[row] = true
			}
		}
		if slices.Contains(seen[from:], false) {
			t.Fatal("a row is in no bucket")
		}
		if most > 60 { // the mean is 20: the partition must not determine the bucket
			t.Errorf("of %d partitions, a bucket has %d rows of %d", of, most, table.Len())
		}
	}
}

func TestBucketed_OfNothing(t *testing.T) {
	table := NewTable(&Spec{Name: "t", Stream: "s", Keys: []Key{{"k", KeyText}}})
	for _, from := range []int{0, 7} {
		for _, rows := range table.Bucketed(from) {
			if len(rows) > 0 {
				t.Fatal(rows)
			}
		}
	}
}
