package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	table := Table{Mutants: []Mutant{{Name: "bug", Rule: "R1", Edits: []Edit{{File: "a.go"}, {File: "b.go"}, {File: "a.go"}}}}}
	const doc = "before\n<!-- mutants: how -->\nold\n<!-- end of mutants -->\nafter\n"
	const want = "before\n<!-- mutants: how -->\n\n| bug | rule | where |\n|---|---|---|\n" +
		"| bug | R1 | `a.go` `b.go` |\n\n<!-- end of mutants -->\nafter\n"
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

// TestSearchesCoverAllSeeds: each seed is tried once, whatever the hint.
func TestSearchesCoverAllSeeds(t *testing.T) {
	table := Table{Seeds: 9}
	for from := range uint64(10) {
		seen := map[int]int{}
		for i, args := range table.searches(&Mutant{From: from, Args: []string{"-plain"}}) {
			first, n := 0, 0
			for _, arg := range args {
				_, _ = fmt.Sscanf(arg, "-seed=%d", &first)
				_, _ = fmt.Sscanf(arg, "-seeds=%d", &n)
			}
			if i == 0 && first != max(1, int(from)) {
				t.Errorf("from %d on: the search begins at %d", from, first)
			}
			if !slices.Contains(args, "-plain") {
				t.Errorf("from %d on: %v forgets what kind of seeds shows it", from, args)
			}
			for seed := first; seed < first+n; seed++ {
				seen[seed]++
			}
		}
		for seed := 1; seed <= 9; seed++ {
			if seen[seed] != 1 {
				t.Errorf("from %d on: seed %d is tried %d times", from, seed, seen[seed])
			}
		}
		if len(seen) != 9 {
			t.Errorf("from %d on: other seeds are tried as well: %v", from, seen)
		}
	}
}

func TestHint(t *testing.T) {
	m := Mutant{From: 50}
	for found, far := range map[string]bool{
		"seed 50, after 1s: R5: x": false, "seed 149, after 1s: R5: x": false, "seed 150, after 1s: R5: x": true,
		"seed 7, after 1s: R5: x": true, "--- FAIL: TestW4_X": false,
	} {
		if got := m.hint([]byte(found)); (got != "") != far {
			t.Errorf("%s: %q", found, got)
		}
	}
}

// TestThirdsAreAll: each bug is in exactly one of the parts that a table is divided into.
func TestThirdsAreAll(t *testing.T) {
	for at := range 10 {
		in := 0
		for _, part := range []string{"1/3", "2/3", "3/3"} {
			if asked(part, at, "bug") {
				in++
			}
		}
		if in != 1 || !asked("1", at, "bug") || !asked("bu", at, "bug") || asked("1/3", 1, "1/3 is lost") {
			t.Errorf("bug %d is in %d parts", at, in)
		}
	}
	for _, name := range []string{"0/3", "4/3", "1/0", "1/", "/", "-1/3"} {
		if asked(name, 0, "bug") || !asked(name, 0, "a "+name+" bug") {
			t.Errorf("%q is not taken for a part of a name", name)
		}
	}
}
