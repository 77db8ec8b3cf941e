package mutants

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOverlay(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("one two two three"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := Mutant{Name: "bug", Edits: []Edit{{"a.go", "one", "1"}, {"a.go", "three", "3"}}}
	path, err := m.overlay(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Replace map[string]string }
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	changed, err := os.ReadFile(list.Replace[filepath.Join(root, "a.go")])
	if err != nil || string(changed) != "1 two two 3" || len(list.Replace) != 1 {
		t.Errorf("the overlay %v has %q, %v", list.Replace, changed, err)
	}
	for _, old := range []string{"two", "four"} {
		m.Edits = []Edit{{"a.go", old, ""}}
		if _, err := m.overlay(root, dir); err == nil {
			t.Errorf("%q is not there once, and is replaced", old)
		}
	}
}

func TestShownIn(t *testing.T) {
	table := Table{Mutants: []Mutant{{Name: "bug", Rule: "R1", Seeds: 5, Edits: []Edit{{File: "a.go"}, {File: "b.go"}, {File: "a.go"}}}}}
	const doc = "before\n<!-- mutants: how -->\nold\n<!-- end of mutants -->\nafter\n"
	const want = "before\n<!-- mutants: how -->\n\n| bug | rule | where | found within |\n|---|---|---|---|\n" +
		"| bug | R1 | `a.go` `b.go` | 5 seeds |\n\n<!-- end of mutants -->\nafter\n"
	if got, err := table.shownIn(doc); err != nil || got != want {
		t.Errorf("it becomes %q, %v", got, err)
	}
	if got, err := table.shownIn(want); err != nil || got != want {
		t.Errorf("a table that is there changes: %q, %v", got, err)
	}
	if _, err := table.shownIn("<!-- end of mutants --><!-- mutants: "); !errors.Is(err, errNoPlace) {
		t.Errorf("no place: %v", err)
	}
}
