package docs

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheProgramHasNoTestCode: what tests share stands below test/, and posta contains none of it.
func TestTheProgramHasNoTestCode(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for _, path := range strings.Fields(string(out)) {
		below, found := strings.CutPrefix(path, module)
		if !found {
			continue
		}
		ours++
		if strings.HasPrefix(below, "test/") || strings.HasSuffix(below, "test") {
			t.Errorf("the program contains %s", below)
		}
	}
	if ours < 100 {
		t.Errorf("%d packages of the program found", ours)
	}
}
