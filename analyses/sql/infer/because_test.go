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
		{"a text among numbers", "1\n2.5\noops\nworse\n", Value{"oops", Place{"t.csv", 4, 0}}, types.Double, true},
		{"a text first", "NA\n\n1\n2\n", Value{"NA", Place{"t.csv", 2, 0}}, types.Double, true},
		{"a number among dates", "2024-01-01\n7\n", Value{"7", Place{"t.csv", 3, 0}}, types.Date, true},
		{"behind a field of two lines", "\"1\"\n\"x\ny\"\n", Value{"x\ny", Place{"t.csv", 3, 0}}, types.Double, true},
		{"texts alone", "a\nb\n", Value{}, types.Null, false},
		{"numbers alone", "1\n2\n", Value{}, types.Null, false},
		{"no value", "\n", Value{}, types.Null, false},
	} {
		var tab Table
		if err := tab.File("t.csv", []byte("km")); err != nil {
			t.Fatal(err)
		}
		tab.RowsAt(Place{"t.csv", 2, 0}, []byte("km"), []byte(c.rows))
		v, others, ok := tab.Because("KM")
		if ok != c.ok || ok && (v != c.want || others != c.others) {
			t.Errorf("%s: %+v, %s, %v", c.name, v, others, ok)
		}
		if _, _, ok := tab.Because("none"); ok {
			t.Errorf("%s: a column that is not there has a reason", c.name)
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
	tab = Table{}
	if err := tab.File("t.csv", []byte("km")); err != nil {
		t.Fatal(err)
	}
	tab.RowsAt(Place{"t.csv", 1, 500}, []byte("km"), []byte("1\n2\nx\n"))
	if v, _, ok := tab.Because("km"); !ok || v != (Value{"x", Place{"t.csv", 3, 500}}) {
		t.Errorf("%+v, %v", v, ok)
	}
}

// A header that most rows do not fit is noticed, and where the rows begin that belong together.
func TestAHeaderThatRowsDoNotFit(t *testing.T) {
	for _, c := range []struct {
		name, header, rows string
		want               *Misfit
	}{
		{"as it should be", "a,b", "1,2\n3,4\n", nil},
		{"a title", "Report", "a,b\n1,2\n3,4\n", &Misfit{2, 1, 2, 0}},
		{"a title, a note and blank lines", "Report", "\nmade by hand\n\na,b\n1,2\n3,4\n", &Misfit{2, 1, 5, 0}},
		{"a title with a separator", "Report, 2024", "a,b,c\n1,2,3\n", &Misfit{3, 2, 2, 0}},
		{"a title above other separators", "Report", "a;b\n1;2\n", &Misfit{2, 1, 2, ';'}},
		{"a column without a name", "a,b", "0,1,2\n1,3,4\n", &Misfit{3, 2, 2, 0}},
		{"a name too many", "a,b,c", "1,2\n3,4\n", &Misfit{2, 3, 2, 0}},
		{"one row too long", "a,b", "1,2\n1,2,3\n4,5\n", nil},
		{"only one row", "a,b", "1,2,3\n", nil},
		{"half of the rows", "a,b", "1,2\n1,2,3\n", nil},
		{"a separator behind each row", "a,b", "1,2,\n3,4,\n", nil},
		{"texts of one column", "a", "x; y\nz\n\nw\n", nil},
		{"a long text", "a,b", "1,\"x\ny\nz\nw\"\n2,z\n", nil},
	} {
		switch got := FindMisfit([]byte(c.header), []byte(c.rows), 2); {
		case got == nil && c.want == nil:
		case got == nil || c.want == nil || *got != *c.want:
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
