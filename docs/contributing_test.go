package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestTheExamplesOfContributing applies the examples of CONTRIBUTING.md to a copy of the tree, builds it, and asks for what they add.
func TestTheExamplesOfContributing(t *testing.T) {
	page, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := blocks(string(page))
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(t.TempDir(), "posta")
	copyTree(t, "..", tree)
	applied := 0
	for _, b := range all {
		if b.language != "diff" {
			continue
		}
		applied++
		inTree(t, tree, b.text, "git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
	}
	if applied == 0 {
		t.Fatal("CONTRIBUTING.md has no example")
	}
	if text := inTree(t, tree, "", "gofmt", "-l", "analyses", "client"); text != "" {
		t.Errorf("the examples are not as gofmt writes them: %s", text)
	}
	inTree(t, tree, "", "go", "build", "-trimpath", "-pgo=off", "-ldflags=-w", "-o", "posta", ".")
	answer := inTree(t, tree, "", filepath.Join(tree, "posta"), "sql", "SELECT bit_length('abc') AS n, bit_length(NULL) IS NULL AS none")
	if !strings.Contains(answer, "24  true") {
		t.Errorf("the answer is %q", answer)
	}
	data := t.TempDir()
	logs := []byte("level=warn ms=40 msg=\"disk is full\"\nlevel=info ms=1\n\nlevel=warn ms=2 msg=ok\n")
	if err := os.WriteFile(filepath.Join(data, "disk.logfmt"), logs, 0o600); err != nil {
		t.Fatal(err)
	}
	answer = inTree(t, tree, "", filepath.Join(tree, "posta"), "sql", "--data", data,
		"SELECT level, sum(ms) AS ms, coalesce(max(msg), 'none') AS msg, max(_line) AS line FROM 'disk.logfmt' GROUP BY level ORDER BY ms")
	if !strings.Contains(strings.Join(strings.Fields(answer), " "), "level ms msg line info 1 none 2 warn 42 ok 4") {
		t.Errorf("the answer over logfmt is %q", answer)
	}
	askRegrCount(t, tree, data)
}

// askRegrCount counts pairs of values with several joiners and aggregators, and in the reducer, where groupings are several.
func askRegrCount(t *testing.T, tree, data string) {
	t.Helper()
	var rows, want strings.Builder
	counts, all := [3]int{}, 0
	rows.WriteString("g,x,y\n")
	for i := range 3000 {
		x, y := strconv.Itoa(i), strconv.Itoa(-i)
		if i%5 == 0 {
			x = ""
		}
		if i%7 == 0 {
			y = ""
		}
		if x != "" && y != "" {
			counts[i%3], all = counts[i%3]+1, all+1
		}
		fmt.Fprintf(&rows, "%d,%s,%s\n", i%3, x, y)
	}
	for g, n := range counts {
		fmt.Fprintln(&want, g, n)
	}
	if err := os.WriteFile(filepath.Join(data, "pairs.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]string{"g": want.String(), "ROLLUP (g)": want.String() + fmt.Sprintln("none", all)} {
		answer := inTree(t, tree, "", filepath.Join(tree, "posta"), "sql", "--data", data, "--replicas", "joiner=3,aggregator=3",
			"--chunk", "4KiB", "--csv",
			"SELECT coalesce(g::TEXT, 'none') || ' ' || regr_count(y, x) AS n FROM 'pairs.csv' GROUP BY "+by+" ORDER BY n")
		if answer != "n\n"+want {
			t.Errorf("GROUP BY %s: %q, want %q", by, answer, want)
		}
	}
}

// copyTree copies what the program is built of.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	skipped := map[string]bool{".git": true, "bin": true, "dist": true, filepath.Join("bench", "rivals"): true, "docs": true, "test": true}
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && skipped[rel]:
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case strings.HasSuffix(path, "_test.go") || !d.Type().IsRegular():
			return nil
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), file, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// inTree runs a command in a folder, and returns what it prints on standard output.
func inTree(t *testing.T, dir, stdin, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var errs strings.Builder
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(stdin), &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}
