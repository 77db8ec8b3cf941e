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
	page, err := os.ReadFile("measurements/rules.md")
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
				t.Errorf("the page names %s, which is not a test", name)
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

// A page may name a file of the project by its path, and the table of folders their names: all of them must exist.
func TestArchitecture_PathsOnPagesExist(t *testing.T) {
	folders := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		folders[filepath.Base(path)] = folders[filepath.Base(path)] || err == nil && d.IsDir()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := pagesHere()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, "../README.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`([a-z0-9_]+/[a-z0-9_/]*)`|`([a-z0-9_/]+/[a-z0-9_]+\\.go)`").FindAllStringSubmatch(string(page),
			-1) {
			folder, file := strings.TrimSuffix(m[1], "/"), m[2]
			if name == "architecture.md" && folder != "" && !folders[filepath.Base(folder)] {
				t.Errorf("%s names the folder %s, which is not there", name, folder)
			}
			if file == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", file)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
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
