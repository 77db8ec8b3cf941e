package docs

import (
	"os"
	"regexp"
	"testing"
)

// Whatever pages tell people to make can be made.
func TestPagesNameTargetsThatExist(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):.*##`).FindAllSubmatch(makefile, -1) {
		targets[string(m[1])] = true
	}
	pages, err := pagesHere()
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?m)(?:`|^    )make ([a-z-]+)").FindAllSubmatch(text, -1) {
			if named++; !targets[string(m[1])] {
				t.Errorf("%s says `make %s`, which is not a target of the Makefile", page, m[1])
			}
		}
	}
	if named < 8 {
		t.Errorf("%d targets found on the pages; has their form changed?", named)
	}
}
