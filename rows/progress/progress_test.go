package progress

import "testing"

// TestN9_RowsMark: work on rows makes a mark every 4,096 rows.
func TestN9_RowsMark(t *testing.T) {
	var r Rows
	before := Marks()
	for range Every - 1 {
		r.Row()
	}
	if Marks() != before {
		t.Errorf("%d marks in %d rows", Marks()-before, Every-1)
	}
	for range 2*Every + 1 {
		r.Row()
	}
	if got := Marks() - before; got != 3 {
		t.Errorf("%d marks in %d rows", got, 3*Every)
	}
	before = Marks()
	for range 3 * Every / 256 {
		r.Add(256)
	}
	if got := Marks() - before; got != 3 {
		t.Errorf("%d marks in %d rows added 256 at a time", got, 3*Every)
	}
}
