package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the table of rules names must exist: files from the root of the project, tests anywhere in it.
func TestArchitecture_FilesAndTestsExist(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	named := 0
	for _, m := range regexp.MustCompile("`([A-Za-z0-9_/.]+)`").FindAllStringSubmatch(string(page), -1) {
		switch name := m[1]; {
		case strings.HasPrefix(name, "Test"):
			named++
			if !tests[name] {
				t.Errorf("the page names %s, which is no test", name)
			}
		case strings.HasSuffix(name, ".go"):
			named++
			if _, err := os.Stat(filepath.Join("..", name)); err != nil {
				t.Errorf("the page names %s: %v", name, err)
			}
		}
	}
	if named < 60 {
		t.Errorf("%d names found on the page; has its form changed?", named)
	}
}

func testNames(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	form := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range form.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
