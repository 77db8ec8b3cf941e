package fold

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestRetainKeepsWhatIsWantedAndNothingElse(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 1000} {
		table := NewTable(&every)
		for _, it := range items(rand.New(rand.NewPCG(2, 2)), 400) {
			it.addTo(table)
		}
		var rows []int
		for row := 0; row < table.Len(); row += n {
			rows = append(rows, row)
		}
		want := table.AppendRows(nil, rows)
		asked := 0
		table.Retain(func(row int) bool {
			if row != asked {
				t.Fatalf("row %d is asked for after row %d", row, asked-1)
			}
			asked++
			return row%n == 0
		})
		if got := table.AppendRows(nil, table.Rows()); table.Len() != len(rows) || !bytes.Equal(got, want) {
			t.Fatalf("of every %d. row %d are left, want %d", n, table.Len(), len(rows))
		}
		for _, it := range items(rand.New(rand.NewPCG(3, 3)), 40) {
			it.addTo(table) // the table then works like any other
		}
		if err := NewTable(&every).Merge(table.AppendRows(nil, table.Rows())); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRetainGivesMemoryBack(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{Name: "k", Kind: KeyText}}, Aggs: []Agg{{Name: "text", Kind: MaxText}}}
	table := NewTable(&spec)
	for i := range 10_000 {
		table.PutMaxText(table.Row(table.Key().String(fmt.Sprint(i))), 0, bytes.Repeat([]byte{'x'}, 100))
	}
	before := table.Bytes()
	table.Retain(func(row int) bool { return row == 9_999 })
	if after := table.Bytes(); table.Len() != 1 || string(table.KeyText(0, 0)) != "9999" || after > before/20 {
		t.Fatalf("%d rows, %d bytes where %d were", table.Len(), after, before)
	}
	table.Retain(func(int) bool { return false })
	if table.Len() != 0 {
		t.Fatal("rows are left")
	}
}

// A table with an error keeps the error: its session fails, and gives the reason.
func TestRetainLeavesASpoiltTable(t *testing.T) {
	table := sample()
	err := table.Merge([]byte("?"))
	table.Retain(func(int) bool { return false })
	if err == nil || table.Err() != err || table.Len() == 0 {
		t.Fatal(table.Err(), table.Len())
	}
}
