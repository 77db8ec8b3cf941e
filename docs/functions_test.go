package docs

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/functions"
	"posta.dev/posta/analyses/sql/types"
)

var update = flag.Bool("update", false, "write what is generated into the pages")

// referencePage is the page of the functions.
const referencePage = "sql-reference.md"

// TestTheFunctionsOfThePage: the page has a line for each function, with what the program knows of it.
func TestTheFunctionsOfThePage(t *testing.T) {
	page, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(page), "-update writes it -->\n")
	_, tail, ended := strings.Cut(rest, "<!-- end of functions -->")
	if !found || !ended {
		t.Fatal(referencePage + " has no place for the functions")
	}
	want := head + "-update writes it -->\n" + catalogue() + "<!-- end of functions -->" + tail
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatal("the functions of " + referencePage + " are not those of the program: go test ./docs -run TestTheFunctionsOfThePage -update")
	}
	if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func catalogue() string {
	var b strings.Builder
	group := ""
	var missing []string
	for _, f := range functions.All() {
		if f.Class == types.Scalar && !f.Session && !eval.Computes(f.Name) {
			missing = append(missing, "`"+f.Name+"`")
			continue
		}
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, "\n### %s\n\n| function | takes and gives | |\n|---|---|---|\n", group)
		}
		name := "`" + f.Name + "`"
		for _, a := range f.Aliases {
			name += ", `" + a + "`"
		}
		about := f.About
		if f.Fails != "" {
			about += " Fails for " + f.Fails + "."
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", name, strings.Join(f.Forms, "`<br>`"), strings.ReplaceAll(about, "|", "\\|"))
	}
	b.WriteByte('\n')
	if len(missing) > 0 {
		fmt.Fprintf(&b, "These are known and not computed yet: %s.\n\n", strings.Join(missing, ", "))
	}
	return b.String()
}
