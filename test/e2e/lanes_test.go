package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatCIRunsOnceIsTheSameTwice: CI runs these tests with the race detector, and again without it at their full length, all but those that
// it skips then. A test that has more to do with -long, or a bound that is wider under the race detector, must not be among them.
func TestWhatCIRunsOnceIsTheSameTwice(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`go test \./test/e2e -long -skip '([^']+)'`).FindSubmatch(script)
	if m == nil {
		t.Fatal("CI skips nothing, or says so in another way")
	}
	skipped := regexp.MustCompile(string(m[1]))
	uses := usesByFunction(t)
	for _, longer := range []string{"TestKill", "TestR9_AggregatorStopped", "TestHostile"} {
		if !reaches(uses, longer, "long", "memoryFactor") {
			t.Fatalf("%s is not seen to depend on -long, or on the race detector", longer)
		}
	}
	n := 0
	for name := range uses {
		if !strings.HasPrefix(name, "Test") || name == "TestMain" || !skipped.MatchString(name) {
			continue
		}
		if n++; reaches(uses, name, "long", "memoryFactor") {
			t.Errorf("CI skips %s without the race detector, where it has more to say", name)
		}
	}
	if n == 0 {
		t.Error("CI skips tests that are not there")
	}
}

// usesByFunction is which names the functions and constants of this package's tests use. Methods go by their names alone: what is seen is
// rather too much than too little.
func usesByFunction(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string][]string{}
	note := func(name string, of ast.Node) {
		ast.Inspect(of, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name != name {
				uses[name] = append(uses[name], id.Name)
			}
			return true
		})
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				note(d.Name.Name, d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						for _, name := range v.Names {
							note(name.Name, v)
						}
					}
				}
			}
		}
	}
	return uses
}

// reaches reports whether a function uses one of the names, itself or by way of others.
func reaches(uses map[string][]string, from string, names ...string) bool {
	seen := map[string]bool{}
	var look func(string) bool
	look = func(at string) bool {
		for _, n := range names {
			if at == n {
				return true
			}
		}
		if seen[at] {
			return false
		}
		seen[at] = true
		for _, next := range uses[at] {
			if look(next) {
				return true
			}
		}
		return false
	}
	return look(from)
}
