// Package mutants tries deliberate bugs on a simulator. Each bug breaks one rule, compiles, and causes no failure on a quiet day. A
// simulator that misses such a bug would also have missed it in the real code. It is for tests.
package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	Rule  string // the rule that it breaks; only a failure that names this rule counts
	From  uint64 // the first seed to try: one that has found the bug; 0 is 1
	Edits []Edit
	Args  []string // arguments of TestSeeds besides -seed and -seeds: the kind of seeds that finds the bug

	// Test is for a bug that hardly any seed shows: the test that must find it instead, behind the package of that test, as in
	// "./nodes/shell TestW5_AFullDisk". Its name begins with the rule. Says is a part of the message with which it must fail.
	Test, Says string

	// Or lists other rules whose failures also find the bug, and Because gives the reason: only these rules detect it, or they do in
	// addition to Rule.
	Or      []string
	Because string
}

// rules returns the rules whose failures find the bug.
func (m *Mutant) rules() []string { return append([]string{m.Rule}, m.Or...) }

// Table has the bugs of one simulator, whose TestSeeds takes -seed and -seeds, and prints "seed N, after …" when it has found a
// failure.
type Table struct {
	Package string // "./test/sim"
	Doc     string // "docs/measurements/bugs.md": the document that shows the table
	Mutants []Mutant

	// Seeds is the number of seeds, from 1 on: one of them must find each bug. Mutant.From only decides which are tried first. If From
	// began a window, a change of the simulator could let a bug survive that other seeds still find.
	Seeds int

	// ByName is for a package without seeds: the tests whose names begin with the rule must find the bug, as TestW4_… or FuzzW4_… for W4.
	ByName bool
}

// Run demands that the simulator finds each bug within the seeds of the table, by a failure that names the broken rule. Any other failure
// would not tell people what is wrong. Run compiles the program once per bug, which takes minutes, so it runs only on request:
// POSTA_MUTANTS=1 for all bugs, POSTA_MUTANTS=2/3 for the second third of them, or POSTA_MUTANTS="part of a name".
func (table *Table) Run(t *testing.T) {
	want := os.Getenv("POSTA_MUTANTS")
	if want == "" || os.Getenv(sought) != "" {
		t.Log("set POSTA_MUTANTS=1 to run it")
		return
	}
	root := moduleRoot(t)
	turn := make(chan struct{}, 2)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, m := range table.Mutants {
		if !asked(want, i, m.Name) {
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

// asked reports whether POSTA_MUTANTS asks for the bug at a place of a table.
func asked(want string, at int, name string) bool {
	if part, of, ok := fraction(want); ok {
		return at%of == part-1
	}
	return want == "1" || strings.Contains(name, want)
}

// fraction reads "2/3".
func fraction(text string) (part, of int, ok bool) {
	before, after, ok := strings.Cut(text, "/")
	if !ok {
		return 0, 0, false
	}
	part, err := strconv.Atoi(before)
	of, also := strconv.Atoi(after)
	return part, of, err == nil && also == nil && 1 <= part && part <= of
}

func (table *Table) try(t *testing.T, root string, m *Mutant) {
	begun := time.Now()
	dir := t.TempDir()
	pkg := table.Package
	if m.Test != "" {
		pkg, _ = m.test()
	}
	overlay, err := m.overlay(root, dir)
	if err != nil {
		t.Error(err)
		return
	}
	program := filepath.Join(dir, "mutant.test")
	defer os.Remove(program) // it has tens of megabytes, and there are about a hundred
	// Nobody debugs the program, and vet may object to deliberate bugs: both would take a fifth of the time.
	compile := exec.Command("go", "test", "-c", "-o", program, "-vet=off", "-ldflags=-w", "-overlay", overlay, pkg)
	compile.Dir = root
	compile.Env = append(os.Environ(), "GOGC=400") // takes a tenth less processor time, and some more memory
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("%s does not compile: %v\n%s", m.Name, err, out)
		return
	}
	var all []byte
	for _, args := range table.searches(m) {
		cmd := exec.Command(program, args...)
		cmd.Dir = filepath.Join(root, pkg)
		cmd.Env = append(os.Environ(), sought+"="+strings.Join(m.rules(), " "))
		out, err := cmd.CombinedOutput()
		all = append(all, out...)
		if err == nil {
			continue
		}
		if found := table.foundBy(m).Find(out); found == nil || !bytes.Contains(out, []byte(m.Says)) {
			t.Errorf("%s (%s): the test fails, but not by finding it: %v\n%s", m.Name, m.Rule, err, out)
		} else {
			t.Logf("%-50s %-4s %s (%v)%s", m.Name, m.Rule, found, time.Since(begun).Round(time.Second), m.hint(found))
		}
		return
	}
	t.Errorf("%s (%s) survives; failures that name other rules: %s", m.Name, strings.Join(m.rules(), " "), otherRules(all))
}

// searches returns the arguments of the test program's runs that together try all seeds for a bug, the likely ones first.
func (table *Table) searches(m *Mutant) (all [][]string) {
	args := append([]string{"-test.v", "-test.timeout=45m"}, m.Args...)
	if m.Test != "" {
		_, name := m.test()
		return [][]string{append(args, "-test.run=^"+name+"$")}
	}
	if table.ByName {
		return [][]string{append(args, "-test.failfast", "-test.run=^"+m.tests())}
	}
	first, last := max(1, m.From), uint64(table.Seeds)
	for _, span := range [][2]uint64{{first, last}, {1, first - 1}} {
		if span[0] <= span[1] {
			all = append(all, append(slices.Clone(args), "-test.run=^TestSeeds$", fmt.Sprintf("-seed=%d", span[0]),
				fmt.Sprintf("-seeds=%d", span[1]-span[0]+1)))
		}
	}
	return all
}

// tests returns a pattern for the names of the tests that guard the rules of a bug.
func (m *Mutant) tests() string { return "(Test|Fuzz)(" + strings.Join(m.rules(), "|") + ")_" }

// test returns the package and the name of the test that must find a bug.
func (m *Mutant) test() (pkg, name string) {
	pkg, name, _ = strings.Cut(m.Test, " ")
	return pkg, name
}

// testIsThere checks that the package of a bug's test has it, under the name of a rule that the bug breaks.
func (m *Mutant) testIsThere(root string) error {
	pkg, name := m.test()
	if !regexp.MustCompile("^" + m.tests()).MatchString(name) {
		return fmt.Errorf("%s: %s is not named for %s", m.Name, name, strings.Join(m.rules(), " "))
	}
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && bytes.Contains(text, []byte("\nfunc "+name+"(")) {
			return nil
		}
	}
	return errors.Join(err, fmt.Errorf("%s: %s has no %s", m.Name, pkg, name))
}

// foundBy returns a pattern for the output of a test program that has found a bug.
func (table *Table) foundBy(m *Mutant) *regexp.Regexp {
	if table.ByName || m.Test != "" {
		return regexp.MustCompile(`--- FAIL: ` + m.tests() + `\w+`)
	}
	return bySeed
}

// hint suggests where the search should begin, if it took long from its present beginning.
func (m *Mutant) hint(found []byte) string {
	const near = 100 // seeds; these take some seconds
	digits := bySeed.FindSubmatch(found)
	if digits == nil {
		return ""
	}
	seed, err := strconv.ParseUint(string(digits[1]), 10, 64)
	if from := max(1, m.From); err != nil || seed >= from && seed < from+near {
		return ""
	}
	return fmt.Sprintf("; far from where the search began: let it begin at %d", seed)
}

// overlay writes the changed files into dir, with the list by which they replace the real ones.
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

// TextsAreThere checks that the edits of the table still match the code. It needs no compiler, so it always runs.
func (table *Table) TextsAreThere(t *testing.T) {
	root := moduleRoot(t)
	seen := map[string]bool{}
	for _, m := range table.Mutants {
		if seen[m.Name] {
			t.Errorf("two mutants are called %q", m.Name)
		}
		seen[m.Name] = true
		if m.From > uint64(table.Seeds) {
			t.Errorf("%s: the search begins at seed %d, and there are %d", m.Name, m.From, table.Seeds)
		}
		if (len(m.Or) > 0) != (m.Because != "") {
			t.Errorf("%s: rules that find it, beside its own, need a reason", m.Name)
		}
		if _, err := m.overlay(root, t.TempDir()); err != nil {
			t.Error(err)
		}
		if m.Test != "" {
			if err := m.testIsThere(root); err != nil {
				t.Error(err)
			}
		}
	}
}

// InTheDocs checks that the document shows the table; with update it writes the document.
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

// shownIn returns the document with the present table.
func (table *Table) shownIn(text string) (string, error) {
	const begin, end = "<!-- mutants: ", "<!-- end of mutants -->"
	from, to := strings.Index(text, begin), strings.Index(text, end)
	if from < 0 || to < from {
		return "", errNoPlace
	}
	from += strings.Index(text[from:], "\n") + 1
	var b strings.Builder
	b.WriteString("\n| bug | rule | where |\n|---|---|---|\n")
	for _, m := range table.Mutants {
		var files []string
		for _, e := range m.Edits {
			if f := "`" + e.File + "`"; !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
		if _, name := m.test(); name != "" {
			files = append(files, "found by `"+name+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Name, strings.Join(m.rules(), " "), strings.Join(files, " "))
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
