package sim

import (
	"encoding/json"
	"flag"
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

// mutating is set in the environment of the tests that TestMutants starts, so that they do not start it again.
const mutating = "POSTA_MUTATING"

// TestMutants demands that the simulator finds each deliberate bug within its seeds. It compiles the program once for each,
// which takes minutes, so it is asked for: POSTA_MUTANTS=1, or POSTA_MUTANTS="part of a name".
func TestMutants(t *testing.T) {
	want := os.Getenv("POSTA_MUTANTS")
	if want == "" || os.Getenv(mutating) != "" {
		t.Log("set POSTA_MUTANTS=1 to run it")
		return
	}
	root := moduleRoot(t)
	turn := make(chan struct{}, 2)
	var wg sync.WaitGroup
	for _, m := range Mutants() {
		if want != "1" && !strings.Contains(m.Name, want) {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			turn <- struct{}{}
			defer func() { <-turn }()
			begun := time.Now()
			out, err := m.run(t, root)
			if err == nil {
				t.Errorf("%s (%s) survives %d seeds", m.Name, m.Rule, m.Seeds)
				return
			}
			found := foundBy.FindString(out)
			if found == "" {
				t.Errorf("%s (%s): the test fails, but not by finding it:\n%s", m.Name, m.Rule, out)
				return
			}
			t.Logf("%-50s %-4s %s (%v)", m.Name, m.Rule, found, time.Since(begun).Round(time.Second))
		}()
	}
	wg.Wait()
}

var foundBy = regexp.MustCompile(`seed \d+, after [^\n]{0,150}`)

func moduleRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// run runs TestSeeds over a program in which the mutant's files take the place of the real ones.
func (m *Mutant) run(t *testing.T, root string) (string, error) {
	dir := t.TempDir()
	files := map[string]string{}
	for _, e := range m.Edits {
		path := filepath.Join(root, e.File)
		if files[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
				return "", nil
			}
			files[path] = string(text)
		}
		if n := strings.Count(files[path], e.Old); n != 1 {
			t.Errorf("%s: the text to replace occurs %d times in %s:\n%s", m.Name, n, e.File, e.Old)
			return "", nil
		}
		files[path] = strings.Replace(files[path], e.Old, e.New, 1)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range files {
		changed := filepath.Join(dir, fmt.Sprintf("%d.go", len(overlay.Replace)))
		overlay.Replace[path] = changed
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			t.Error(err)
			return "", nil
		}
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Error(err)
		return "", nil
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Error(err)
		return "", nil
	}
	cmd := exec.Command("go", "test", "-overlay", path, "./medic/sim", "-run", "^TestSeeds$", "-count=1",
		fmt.Sprintf("-seeds=%d", m.Seeds))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), mutating+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestMutants_TextsAreThere keeps the table from rotting: it needs no compiler, so it runs every time.
func TestMutants_TextsAreThere(t *testing.T) {
	root := moduleRoot(t)
	seen := map[string]bool{}
	for _, m := range Mutants() {
		if seen[m.Name] {
			t.Errorf("two mutants are called %q", m.Name)
		}
		seen[m.Name] = true
		for _, e := range m.Edits {
			text, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), e.Old); n != 1 {
				t.Errorf("%s: the text to replace occurs %d times in %s:\n%s", m.Name, n, e.File, e.Old)
			}
		}
	}
}

var update = flag.Bool("update", false, "write the table of mutants into docs/medics.md")

// TestMutants_TableInTheDocs keeps docs/medics.md in step with the table.
func TestMutants_TableInTheDocs(t *testing.T) {
	const begin, end = "<!-- mutants: ", "<!-- end of mutants -->"
	path := filepath.Join(moduleRoot(t), "docs", "medics.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	from, to := strings.Index(text, begin), strings.Index(text, end)
	if from < 0 || to < from {
		t.Fatalf("%s has no place for the table", path)
	}
	from += strings.Index(text[from:], "\n") + 1
	var table strings.Builder
	table.WriteString("\n| bug | rule | where | found within |\n|---|---|---|---|\n")
	for _, m := range Mutants() {
		var files []string
		for _, e := range m.Edits {
			if f := "`" + e.File + "`"; !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %d seeds |\n", m.Name, m.Rule, strings.Join(files, " "), m.Seeds)
	}
	table.WriteString("\n")
	if text[from:to] == table.String() {
		return
	}
	if !*update {
		t.Fatal("docs/medics.md shows another table: go test ./medic/sim -run TestMutants_Table -update")
	}
	if err := os.WriteFile(path, []byte(text[:from]+table.String()+text[to:]), 0o600); err != nil {
		t.Fatal(err)
	}
}
