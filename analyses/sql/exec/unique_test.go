package exec

import (
	"testing"

	"posta.dev/posta/rows/fold"
)

// TestUniqueKeysAreNotLookedUp: once the keys of some rows hardly repeat, those that follow are not looked up, for ever more chunks without
// a trial. When they repeat, they are looked up again. Other tables, and groups with large states, are not concerned.
func TestUniqueKeysAreNotLookedUp(t *testing.T) {
	spec := fold.Spec{Name: "t", Keys: []fold.Key{{Name: "k", Kind: fold.KeyInt}}, Aggs: []fold.Agg{{Name: "n", Kind: fold.Sum}}}
	next := int64(0)
	chunk := func(u *unique, table *fold.Table, repeat bool) (loose int) {
		table.Reset()
		for range 8 {
			keys, sel := fold.KeyValues{}, []int32(nil)
			for i := range int32(Slice) {
				if next++; repeat {
					next %= 1000
				}
				keys.Ints, sel = append(keys.Ints, next), append(sel, i)
			}
			u.before(table)
			into := table.RowsOf([]fold.KeyValues{keys}, sel, nil)
			u.after(table, len(sel))
			if table.Loose() {
				loose++
			}
			for k, row := range into {
				if table.KeyInt(int(row), 0) != keys.Ints[k] {
					t.Fatalf("key %d is in row %d, which has %d", keys.Ints[k], row, table.KeyInt(int(row), 0))
				}
			}
		}
		u.settle()
		return loose
	}
	u, out := &unique{}, fold.NewOutgoing(&spec)
	trials := 0
	for i := range 100 {
		switch loose := chunk(u, out, false); loose {
		case 6:
			trials++
		case 8:
		default:
			t.Fatalf("chunk %d: %d slices of 8 are not looked up", i, loose)
		}
	}
	if trials != 7 { // 0, 2, 5, 10, 19, 36, 69
		t.Errorf("%d trials in 100 chunks", trials)
	}
	for range 2 * mostUnique {
		chunk(u, out, true)
	}
	if loose := chunk(u, out, true); loose != 0 {
		t.Errorf("keys repeat, and %d slices of 8 are not looked up", loose)
	}
	for _, x := range []*unique{{off: true}, {}} {
		table := out
		if !x.off {
			table = fold.NewTable(&spec)
		}
		for range 3 {
			if loose := chunk(x, table, false); loose != 0 {
				t.Errorf("off: %v: %d slices are not looked up", x.off, loose)
			}
		}
	}
}
