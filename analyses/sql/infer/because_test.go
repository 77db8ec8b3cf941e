package infer

import (
	"testing"

	"posta.dev/posta/analyses/sql/types"
)

// TestWhatMadeAColumnTEXT: Because names the first value that differs from the others, with its line. A column that has only texts
// needs no reason.
func TestWhatMadeAColumnTEXT(t *testing.T) {
	for _, c := range []struct {
		name, rows string
		want       Value
		others     types.Kind
		ok         bool
	}{
		{"a text among numbers", "1\n2.5\noops\nworse\n", Value{"oops", "t.csv", 4}, types.Double, true},
		{"a text first", "NA\n\n1\n2\n", Value{"NA", "t.csv", 2}, types.Double, true},
		{"a number among dates", "2024-01-01\n7\n", Value{"7", "t.csv", 3}, types.Date, true},
		{"behind a field of two lines", "\"1\"\n\"x\ny\"\n", Value{"x\ny", "t.csv", 3}, types.Double, true},
		{"texts alone", "a\nb\n", Value{}, types.Null, false},
		{"numbers alone", "1\n2\n", Value{}, types.Null, false},
		{"no value", "\n", Value{}, types.Null, false},
	} {
		var tab Table
		if err := tab.File("t.csv", []byte("km")); err != nil {
			t.Fatal(err)
		}
		tab.RowsAt("t.csv", 2, []byte("km"), []byte(c.rows))
		v, others, ok := tab.Because("KM")
		if ok != c.ok || ok && (v != c.want || others != c.others) {
			t.Errorf("%s: %+v, %s, %v", c.name, v, others, ok)
		}
		if _, _, ok := tab.Because("none"); ok {
			t.Errorf("%s: a column that is not there has a reason", c.name)
		}
		if tab.Force("km"); c.ok {
			if _, _, ok := tab.Because("km"); ok {
				t.Errorf("%s: a column that the file says is TEXT has another reason", c.name)
			}
		}
	}
	var tab Table
	if err := tab.File("t.csv", []byte("km")); err != nil {
		t.Fatal(err)
	}
	tab.Rows([]byte("km"), []byte("1\nx\n")) // from the middle of a file
	if v, _, ok := tab.Because("km"); !ok || v.Line != 0 {
		t.Errorf("%+v, %v", v, ok)
	}
}
