package csv

import (
	"slices"
	"testing"
)

// TestNamesAreDifferent: columns with the same name, without regard to case, get numbers and are found by these. A column without a
// name gets one.
func TestNamesAreDifferent(t *testing.T) {
	for header, want := range map[string][]string{
		"a,b":                          {"a", "b"},
		"a,A,a":                        {"a", "A_1", "a_2"},
		"a,a_1,a":                      {"a", "a_1", "a_2"},
		",x,":                          {"column0", "x", "column2"},
		"column2,x,":                   {"column2", "x", "column2_1"},
		"\xef\xbb\xbfa b,a.b,\"a,\"\"": {"a b", "a.b", "a,\""},
		"Total Amount,total amount\r":  {"Total Amount", "total amount_1"},
	} {
		if header == "\xef\xbb\xbfa b,a.b,\"a,\"\"" {
			header += "\""
		}
		h, err := ParseHeader([]byte(header), 0)
		if err != nil {
			t.Fatalf("%q: %v", header, err)
		}
		if got := h.Names(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
		for i, name := range h.Names() {
			m, err := h.Find([]Column{{Name: name, Distinct: true}})
			if err != nil || m.sources[0] != i {
				t.Errorf("%q: column %q is found at %v, %v", header, name, m.sources, err)
			}
		}
	}
}

// TestQuotedIsTold: a field in quotes is distinguished from one without, also if it is empty, in whichever way the row is read, and
// whatever the row before it had.
func TestQuotedIsTold(t *testing.T) {
	for _, row := range []string{
		"\"\",,\"\"\n", "\"\",,\"\"", "x,\"\",\"\"\n\"\",,\"\"\r\n", "\"a\nb\",\"\",c\n",
		"\"\",,\"\"\nx,\"d\"\"d\",\"\"\ny,y,y\n\"\",,\"\"\n",
	} {
		h, err := ParseHeader([]byte("a,b,c"), 0)
		if err != nil {
			t.Fatal(err)
		}
		m, err := h.Find([]Column{{Name: "a"}, {Name: "b"}, {Name: "c"}})
		if err != nil {
			t.Fatal(err)
		}
		var s Scanner
		s.Reset([]byte(row), 0, m, 1)
		for s.Next() {
			if err := s.Err(); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
			f := s.Fields()
			quoted := ""
			for i := range f {
				quoted += string("-q"[bit(s.Quoted().Has(i))])
			}
			want := map[string]string{"": "q-q", "x": "-qq", "a\nb": "qq-", "y": "---"}[string(f[0])]
			if quoted != want {
				t.Errorf("%q: %s, want %s", row, quoted, want)
			}
		}
	}
}

func bit(set bool) int {
	if set {
		return 1
	}
	return 0
}
