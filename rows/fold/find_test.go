package fold

import "testing"

func TestFindFindsWhatIsThereAndAddsNothing(t *testing.T) {
	table := NewTable(&Spec{Name: "t", Keys: []Key{{Name: "n", Kind: KeyInt}}, Aggs: []Agg{{Name: "s", Kind: Sum}}})
	for n := range int64(3000) {
		if row, found := table.Find(table.Key().Int(n)); found {
			t.Fatalf("%d is row %d before it was added", n, row)
		}
		table.Row(table.Key().Int(n))
	}
	for n := range int64(3000) {
		if row, found := table.Find(table.Key().Int(n)); !found || row != int(n) {
			t.Fatalf("%d: %d, %v", n, row, found)
		}
	}
	if table.Len() != 3000 {
		t.Errorf("%d rows", table.Len())
	}
}
