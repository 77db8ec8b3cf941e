package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever looks for what a program said has to find it on the page, so what the page quotes is what programs say.
func TestOperationsQuoteWhatIsSaid(t *testing.T) {
	page, err := os.ReadFile("operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## What errors mean")
	table, _, _ = strings.Cut(table, "\n## ")
	quotes := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1)
	if !found || len(quotes) < 8 {
		t.Fatalf("%d errors on the page; has its form changed?", len(quotes))
	}
	said := literals(t)
	for _, q := range quotes {
		for _, part := range strings.Split(q[1], " … ") { // what is between differs
			if !strings.Contains(said, part) {
				t.Errorf("the page quotes %q, and no program says so", part)
			}
		}
	}
}

// literals returns all strings of all programs. A long one may be written in parts, one on each line.
func literals(t *testing.T) string {
	t.Helper()
	parts := regexp.MustCompile(`" ?\+\n\s*"`)
	literal := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	var all strings.Builder
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, s := range literal.FindAll(parts.ReplaceAll(text, nil), -1) {
			all.Write(append(s, '\n'))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
