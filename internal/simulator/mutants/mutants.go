// Package mutants tries deliberate bugs on a simulator: each breaks one rule, compiles, and passes a quiet day. A simulator that does not
// find a bug that somebody has put in would not have found it in the code either. It is for tests.
package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Edit replaces a piece of text that occurs once in a file.
type Edit struct{ File, Old, New string }

// Mutant is a deliberate bug.
type Mutant struct {
	Name  string
	Rule  string
	From  uint64 // the first seed that is tried; 0 is 1
	Seeds int    // in how many the simulator must find it
	Edits []Edit
}

// Table is the bugs of one simulator, whose TestSeeds takes -seed and -seeds and prints "seed N, after …" when it has found something.
type Table struct {
	Package string // "./test/sim"
	Doc     string // "docs/simulation.md": where the table is shown
	Mutants []Mutant
}

// Underway is set in the environment of the tests that Run starts, so that they do not start it again.
const Underway = "POSTA_MUTATING"

// Run demands that the simulator finds each bug within its seeds. It compiles the program once for each, which takes minutes, so it
// is asked for: POSTA_MUTANTS=1, or POSTA_MUTANTS="part of a name".
func (table *Table) Run(t *testing.T) {
	want := os.Getenv("POSTA_MUTANTS")
	if want == "" || os.Getenv(Underway) != "" {
		t.Log("set POSTA_MUTANTS=1 to run it")
		return
	}
	root := moduleRoot(t)
	turn := make(chan struct{}, 2)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, m := range table.Mutants {
		if want != "1" && !strings.Contains(m.Name, want) {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			turn <- struct{}{}
			defer func() { <-turn }()
			table.try(t, root, &m)
		}()
	}
}

var foundBy = regexp.MustCompile(`seed \d+, after [^\n]{0,150}`)

func (table *Table) try(t *testing.T, root string, m *Mutant) {
	begun := time.Now()
	overlay, err := m.overlay(root, t.TempDir())
	if err != nil {
		t.Error(err)
		return
	}
	// Nobody debugs it, and vet may dislike what is deliberately wrong: both would take a fifth of the time.
	cmd := exec.Command("go", "test", "-vet=off", "-ldflags=-w", "-overlay", overlay, table.Package, "-run", "^TestSeeds$", "-count=1",
		fmt.Sprintf("-seed=%d", max(1, m.From)), fmt.Sprintf("-seeds=%d", m.Seeds))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), Underway+"=1")
	out, err := cmd.CombinedOutput()
	found := foundBy.Find(out)
	switch {
	case err == nil:
		t.Errorf("%s (%s) survives %d seeds", m.Name, m.Rule, m.Seeds)
	case found == nil:
		t.Errorf("%s (%s): the test fails, but not by finding it:\n%s", m.Name, m.Rule, out)
	default:
		t.Logf("%-50s %-4s %s (%v)", m.Name, m.Rule, found, time.Since(begun).Round(time.Second))
	}
}

// overlay writes the changed files into dir, and the list that lets them take the place of the real ones.
func (m *Mutant) overlay(root, dir string) (path string, err error) {
	files := map[string]string{}
	for _, e := range m.Edits {
		name := filepath.Join(root, e.File)
		if files[name] == "" {
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			files[name] = string(text)
		}
		if files[name], err = e.apply(files[name]); err != nil {
			return "", fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	list := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range files {
		changed := filepath.Join(dir, fmt.Sprintf("%d.go", len(list.Replace)))
		list.Replace[name] = changed
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(list)
	path = filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, data, 0o600))
}

func (e *Edit) apply(text string) (string, error) {
	if n := strings.Count(text, e.Old); n != 1 {
		return "", fmt.Errorf("the text to replace occurs %d times in %s:\n%s", n, e.File, e.Old)
	}
	return strings.Replace(text, e.Old, e.New, 1), nil
}

// TextsAreThere keeps the table from rotting: it needs no compiler, so it is run every time.
func (table *Table) TextsAreThere(t *testing.T) {
	root := moduleRoot(t)
	seen := map[string]bool{}
	for _, m := range table.Mutants {
		if seen[m.Name] {
			t.Errorf("two mutants are called %q", m.Name)
		}
		seen[m.Name] = true
		if _, err := m.overlay(root, t.TempDir()); err != nil {
			t.Error(err)
		}
	}
}

// InTheDocs keeps the document in step with the table; with update it writes it.
func (table *Table) InTheDocs(t *testing.T, update bool) {
	path := filepath.Join(moduleRoot(t), table.Doc)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := table.shownIn(string(data))
	switch {
	case err != nil:
		t.Fatalf("%s: %v", table.Doc, err)
	case text == string(data):
	case !update:
		t.Fatalf("%s shows another table: go test %s -run TestMutants_Table -update", table.Doc, table.Package)
	default:
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var errNoPlace = errors.New("there is no place for the table")

// shownIn is the document with the table in its place.
func (table *Table) shownIn(text string) (string, error) {
	const begin, end = "<!-- mutants: ", "<!-- end of mutants -->"
	from, to := strings.Index(text, begin), strings.Index(text, end)
	if from < 0 || to < from {
		return "", errNoPlace
	}
	from += strings.Index(text[from:], "\n") + 1
	var b strings.Builder
	b.WriteString("\n| bug | rule | where | found within |\n|---|---|---|---|\n")
	for _, m := range table.Mutants {
		var files []string
		for _, e := range m.Edits {
			if f := "`" + e.File + "`"; !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d seeds |\n", m.Name, m.Rule, strings.Join(files, " "), m.Seeds)
	}
	b.WriteString("\n")
	return text[:from] + b.String() + text[to:], nil
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}
