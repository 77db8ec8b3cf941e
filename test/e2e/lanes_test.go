package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWhatMakeTestLeavesOutIsRunNightly: `make test` runs the tests of clusters at their short lengths, once without the race detector, and few of
// them with it. `make nightly` runs the others with it, and each test that has a full length at that length.
func TestWhatMakeTestLeavesOutIsRunNightly(t *testing.T) {
	script, makefile := text(t, "../../.ci/nightly"), text(t, "../../Makefile")
	for what, lines := range map[string][]string{
		text(t, "../../.ci/run"): {"\nmake test\n"},
		script: {
			"\nmake chaos TIME=10m\n", "\n\tgo test -race ./link/nats -run TestSuite -long ",
			"\n\tgo test ./test/sim -run 'TestSeeds|TestRunsAreWorthIt' -seeds=2000 ", "\n\tgo test ./test/medicsim -run 'TestSeeds' -seeds=2000 ",
		},
		makefile: {
			"-j4 test-plain test-keys test-commands test-raced\n",
			"\ntest-plain:\n\t$(GO_TEST) -p $(PROCESSORS) $(filter-out ./cmd,$(CLUSTERS))\n\n",
			"\ntest-keys:\n\t$(GO_TEST) -run '$(HALF)' ./cmd\n\ntest-commands:\n\t$(GO_TEST) -skip '$(HALF)' ./cmd\n\n",
			"$(GO_TEST_RACE) -p $(PROCESSORS) -run '$(RACED)' $(RACED_IN))\n\t$(GO_TEST) -p $(PROCESSORS) $$($(GO) list $(PURE))\n\n",
			"with it\n\t$(GO_TEST_RACE) -p $(PROCESSORS) -skip '$(RACED)' $(CLUSTERS)\n",
		},
	} {
		for _, l := range lines {
			if !strings.Contains(what, l) {
				t.Errorf("no %q in .ci/run, .ci/nightly or the Makefile; has its form changed?", l)
			}
		}
	}
	clusters, ran := strings.Fields(find(t, makefile, `(?m)^CLUSTERS := (.*)$`)), []string{}
	for _, m := range regexp.MustCompile(`(?m)^\t?make test-race (?:LIMIT=\w+ )?CLUSTERS='?([^'\n]*)'?$`).FindAllStringSubmatch(script, -1) {
		ran = append(ran, strings.Fields(m[1])...)
	}
	slices.Sort(clusters)
	if slices.Sort(ran); !slices.Equal(clusters, ran) {
		t.Errorf("make nightly runs %q with the race detector, and the Makefile's CLUSTERS are %q", ran, clusters)
	}
	racedIn := strings.Fields(find(t, makefile, `(?m)^RACED_IN := (.*)$`))
	for _, dir := range racedIn {
		if !slices.Contains(clusters, dir) {
			t.Errorf("RACED_IN in the Makefile says %s, which is not among CLUSTERS", dir)
		}
	}
	raced := strings.Split(find(t, makefile, `(?m)^RACED := \^\((.*)\)\$\$$`), "|")
	found := map[string]bool{}
	for _, dir := range clusters {
		for name := range usesByFunction(t, filepath.Join("../..", dir)) {
			for _, pattern := range raced {
				switch is := regexp.MustCompile("^" + pattern + "$").MatchString(name); {
				case is && slices.Contains(racedIn, dir):
					found[pattern] = true
				case is:
					t.Errorf("RACED in the Makefile says %s, and %s is in %s, which RACED_IN has not: it is run with the race detector nowhere", pattern, name, dir)
				}
			}
		}
	}
	for _, pattern := range raced {
		if !found[pattern] {
			t.Errorf("RACED in the Makefile says %s, which is not a test of RACED_IN", pattern)
		}
	}

	full := regexp.MustCompile(find(t, script, `go test \./test/e2e -long -run '([^']+)'`))
	uses := usesByFunction(t, ".")
	for _, longer := range []string{"TestKill", "TestR9_AggregatorStopped", "TestHostile", "TestPython"} {
		if !reaches(uses, longer, "long") {
			t.Fatalf("%s is not seen to depend on -long", longer)
		}
	}
	for name := range uses {
		if !strings.HasPrefix(name, "Test") || name == "TestMain" {
			continue
		}
		if has := reaches(uses, name, "long"); has != full.MatchString(name) {
			t.Errorf("%s has a full length: %v. make nightly runs it at full length: %v", name, has, !has)
		}
	}
}

// TestEveryTableOfDeliberateBugsIsRunNightly: without POSTA_MUTANTS a table only checks that its texts are in the code.
func TestEveryTableOfDeliberateBugsIsRunNightly(t *testing.T) {
	var ran []string
	for _, m := range regexp.MustCompile(`(?m)^\tPOSTA_MUTANTS=1 go test (.*) -run 'TestMutants' `).FindAllStringSubmatch(text(t, "../../.ci/nightly"), -1) {
		ran = append(ran, strings.Fields(m[1])...)
	}
	slices.Sort(ran)
	const root = "../.."
	var tables []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go") && strings.Contains(text(t, path), "\nfunc TestMutants("):
			dir, err := filepath.Rel(root, filepath.Dir(path))
			tables = append(tables, "./"+filepath.ToSlash(dir))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(tables); len(tables) == 0 || !slices.Equal(tables, ran) {
		t.Errorf("make nightly runs the deliberate bugs of %q; there are tables in %q", ran, tables)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// find returns what the groups of a pattern match.
func find(t *testing.T, in, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(in)
	if m == nil {
		t.Fatalf("nothing in .ci/nightly or the Makefile is like %s", pattern)
	}
	return m[1]
}

// usesByFunction returns which names the functions and constants of a package's tests use. It identifies methods by their names alone, so it finds
// too many uses rather than too few.
func usesByFunction(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
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

// reaches reports whether a function uses one of the names, directly or through others.
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
