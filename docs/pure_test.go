package docs

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWithoutTheRaceDetectorThereIsNoGoroutine: what `make test` tests without the race detector starts no goroutine, nor do its tests, nor
// anything of this module that they import.
func TestWithoutTheRaceDetectorThereIsNoGoroutine(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^PURE := (.*)$`).FindSubmatch(makefile)
	if m == nil {
		t.Fatal("the Makefile does not say which packages are pure")
	}
	seen := map[string]bool{}
	for _, pattern := range strings.Fields(string(m[1])) {
		top, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
		everyGoFile(t, func(path string, isTest bool) {
			if dir := filepath.Dir(path); isTest && (dir == top || below && strings.HasPrefix(dir, top+"/")) {
				checkNoGoroutine(t, dir, true, seen)
			}
		})
	}
	if len(seen) < 40 {
		t.Errorf("%d packages found", len(seen))
	}
}

func checkNoGoroutine(t *testing.T, dir string, tests bool, seen map[string]bool) {
	if seen[dir] && !tests || tests && seen[dir+" with tests"] {
		return
	}
	seen[dir] = true
	if tests {
		seen[dir+" with tests"] = true
	}
	p, err := build.ImportDir(filepath.Join("..", dir), 0)
	if err != nil {
		t.Fatal(err)
	}
	files, imports := p.GoFiles, p.Imports
	if tests {
		files = append(append(files, p.TestGoFiles...), p.XTestGoFiles...)
		imports = append(append(imports, p.TestImports...), p.XTestImports...)
	}
	for _, name := range files {
		path := filepath.Join("..", dir, name)
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine: take its package out of PURE in the Makefile", path)
			case *ast.SelectorExpr:
				if n.Sel.Name == "AfterFunc" || n.Sel.Name == "Parallel" || n.Sel.Name == "RunParallel" {
					t.Errorf("%s uses %s, which starts a goroutine: take its package out of PURE in the Makefile", path, n.Sel.Name)
				}
			}
			return true
		})
	}
	for _, i := range imports {
		if i == "golang.org/x/sync/errgroup" {
			t.Errorf("%s starts goroutines by errgroup: take it out of PURE in the Makefile", dir)
		}
		if below, ours := strings.CutPrefix(i, module); ours {
			checkNoGoroutine(t, below, false, seen)
		}
	}
}
