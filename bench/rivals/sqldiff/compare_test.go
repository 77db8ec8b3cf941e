package sqldiff

import "testing"

// Rows that differ only in a rounded column are compared in the order of its values: as texts, 0x1.f8p-01 is above 0x1.f8ffp+00, and its
// neighbour below.
func TestRoundedRowsAreComparedByTheirSize(t *testing.T) {
	got := [][]string{{"NULL", "0x1.f8ffb212df6dep+00"}, {"NULL", "0x1.f8p-01"}, {"NULL", "NULL"}}
	for want, alike := range map[*[][]string]bool{
		{{"NULL", "NULL"}, {"NULL", "0x1.f7fffffffffffp-01"}, {"NULL", "0x1.f8ffb212df6dep+00"}}: true,
		{{"NULL", "NULL"}, {"NULL", "0x1.f8p-01"}, {"NULL", "0x1.f8p-01"}}:                       false,
	} {
		if why := same(got, *want, false, []bool{false, true}); (why == "") != alike {
			t.Errorf("%v and %v: %q", got, *want, why)
		}
	}
}

// With NULL in one of two rounded columns, rows have one order. Before, the order depended on that in which they came.
func TestRoundedRowsWithNullHaveOneOrder(t *testing.T) {
	rows := [][]string{{"NULL", "0x1p+01"}, {"-0x1p+01", "NULL"}, {"0x1p+00", "0x1p+00"}, {"-0x1p+00", "-0x1p-02"}}
	for range rows {
		rows = append(rows[1:], rows[0])
		if why := same(append([][]string{}, rows...), [][]string{rows[2], rows[0], rows[3], rows[1]}, false, []bool{true, true}); why != "" {
			t.Error(why)
		}
	}
}

// A column of NaN says nothing about the order of rows that the next column tells apart.
func TestRoundedRowsWithNaNHaveOneOrder(t *testing.T) {
	a, b := []string{"NULL", "NaN", "0x1p+00"}, []string{"NULL", "NaN", "0x1p+01"}
	if why := same([][]string{a, b}, [][]string{b, a}, false, []bool{false, true, true}); why != "" {
		t.Error(why)
	}
}
