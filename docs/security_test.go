package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tables are the tests that are tables of what is refused. Each of their cases stands on the page.
var tables = []string{"TestS3_Verify", "TestS3_WhoIsRefusedByAListener", "TestS3_WhoIsRefusedByADialler",
	"TestS3_EachConnectionIsAFullHandshake", "TestS7_AStrangerMaySayLittle"}

// checksPage is the page with the table of checks.
const checksPage = "measurements/checks.md"

// admitted are the cases of TestS3_Verify that are let in.
var admitted = []string{"a node", "a medic", "of the second CA", "a client", "a clock that is far behind", "on the last day"}

// TestSecurity_EachCheckHasItsTests: a test that the page names exists, and so does each case that stands behind its name; and no case of a
// table of refusals is missing on the page.
func TestSecurity_EachCheckHasItsTests(t *testing.T) {
	page, err := os.ReadFile(checksPage)
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(page), "\n## ")
	bodies := securityTests(t)
	named, cases := map[string]map[string]bool{}, 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(line, "`Test") {
			continue
		}
		for part := range strings.SplitSeq(cells[2], ";") {
			m := regexp.MustCompile("^ `(Test[A-Za-z0-9_]+)` ?(.*)$").FindStringSubmatch(strings.TrimRight(part, " "))
			if m == nil {
				t.Errorf("%q is not a test and its cases", part)
				continue
			}
			body := bodies[m[1]]
			if body == nil {
				t.Errorf("the page names %s, which is not a test of rules S1 to S9", m[1])
				continue
			}
			if named[m[1]] == nil {
				named[m[1]] = map[string]bool{}
			}
			for _, c := range regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(m[2], -1) {
				cases++
				named[m[1]][c[1]] = true
				if !body.literals[c[1]] {
					t.Errorf("the page says that %s has the case %q, which it has not", m[1], c[1])
				}
			}
		}
	}
	if len(named) < 12 || cases < 50 {
		t.Errorf("%d tests and %d cases found on the page; has its form changed?", len(named), cases)
	}
	for _, c := range admitted {
		named["TestS3_Verify"][c] = true
	}
	for _, name := range tables {
		if bodies[name] == nil {
			t.Errorf("there is no test %s", name)
			continue
		}
		for c := range bodies[name].cases {
			if !named[name][c] {
				t.Errorf("%s has the case %q, and %s does not: write it behind the check that it fails for", name, c, checksPage)
			}
		}
	}
}

// testBody is what one test says.
type testBody struct {
	literals map[string]bool // all strings
	cases    map[string]bool // those that name a case of a table
}

// securityTests returns all tests of rules S1 to S9.
func securityTests(t *testing.T) map[string]*testBody {
	t.Helper()
	found := map[string]*testBody{}
	err := filepath.WalkDir("..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "TestS") && f.Recv == nil {
				found[f.Name.Name] = readBody(f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// readBody finds the cases of a table: keys of a map, first fields of structs, or fields that are called name.
func readBody(f *ast.FuncDecl) *testBody {
	b := &testBody{literals: map[string]bool{}, cases: map[string]bool{}}
	text := func(e ast.Expr) (string, bool) {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(lit.Value)
		return s, err == nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, ok := text(n); ok {
				b.literals[s] = true
			}
		case *ast.CompositeLit:
			list, ok := n.Type.(*ast.ArrayType)
			if _, isMap := n.Type.(*ast.MapType); !ok && !isMap {
				return true
			}
			if ok {
				if _, ok := list.Elt.(*ast.StructType); !ok {
					return true
				}
			}
			for _, e := range n.Elts {
				b.addCase(e, text)
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && id.Name == "name" {
				if s, ok := text(n.Value); ok {
					b.cases[s] = true
				}
			}
		}
		return true
	})
	return b
}

func (b *testBody) addCase(e ast.Expr, text func(ast.Expr) (string, bool)) {
	switch e := e.(type) {
	case *ast.KeyValueExpr: // of a map
		if s, ok := text(e.Key); ok {
			b.cases[s] = true
		}
	case *ast.CompositeLit: // of a slice of structs
		if len(e.Elts) > 0 {
			if s, ok := text(e.Elts[0]); ok {
				b.cases[s] = true
			}
		}
	}
}
