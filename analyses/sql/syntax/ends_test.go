package syntax

import "testing"

func TestEnds(t *testing.T) {
	for text, want := range map[string]bool{
		"":                     false,
		";":                    true,
		"SELECT 1":             false,
		"SELECT 1;":            true,
		"SELECT 1; -- the end": true,
		"SELECT 1 -- ;":        false,
		"SELECT 1 /* ;":        false,
		"SELECT 1 /* */ ;\n":   true,
		"SELECT ';":            false,
		"SELECT 'a'';":         false,
		"SELECT 'a''';":        true,
		"SELECT \"a;":          false,
		"SELECT 1; SELECT":     false,
		"SELECT ` ;":           true, // no further line makes it valid
		"SELECT ` ":            false,
	} {
		if got := Ends(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
