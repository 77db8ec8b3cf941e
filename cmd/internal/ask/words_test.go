package ask

import (
	"slices"
	"testing"
)

func TestPromptWords(t *testing.T) {
	w := &promptWords{}
	looked := 0
	columns := func(string) []string { looked++; return []string{"station", "Start Date", "started"} }
	for _, c := range []struct{ before, line, want, choice string }{
		{"", "sele", "select", ""},
		{"", "SELE", "SELECT", ""},
		{"", "SELECT * FROM tri", "SELECT * FROM trips", ""},
		{"SELECT * FROM trips\n", "WHERE sta", "WHERE sta", "started"},
		{"SELECT * FROM trips\n", "WHERE stati", "WHERE station", ""},
		{"", ".sch", ".schema", ""},
		{"SELECT\n", ".sch", ".sch", ""},
		{"", "SELECT 'é", "SELECT 'é", ""},
		{"", "", "", ""},
		{"", "SELECT date_t", "SELECT date_trunc", ""},
	} {
		w.Before = c.before
		got, choices := w.Complete(c.line, []string{"trips", "a b"}, columns)
		if got != c.want || c.choice != "" && !slices.Contains(choices, c.choice) || slices.Contains(choices, "Start Date") {
			t.Errorf("%q becomes %q, or one of %q", c.line, got, choices)
		}
	}
	if looked != 1 {
		t.Errorf("the columns of a table were looked up %d times", looked)
	}
}
