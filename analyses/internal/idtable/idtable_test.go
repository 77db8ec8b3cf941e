package idtable

import "testing"

func TestTableFindsWhatWasPut(t *testing.T) {
	table := New()
	for i := range int32(5000) {
		table.Put(int64(i)*3-7000, i)
	}
	for i := range int32(5000) {
		id := int64(i)*3 - 7000
		if table.Find(id) != i || table.Find(id+1) != -1 {
			t.Fatalf("id %d is %d, the next %d", id, table.Find(id), table.Find(id+1))
		}
	}
}
