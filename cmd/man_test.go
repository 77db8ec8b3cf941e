package cmd

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

// TestManual: the page has every command and flag of the help, and no line that troff would take for a command.
func TestManual(t *testing.T) {
	page := must(t, "man").out
	known := map[string]bool{"TH": true, "SH": true, "SS": true, "B": true, "I": true, "PP": true, "TP": true, "nf": true, "fi": true}
	for i, line := range strings.Split(page, "\n") {
		if macro, _, _ := strings.Cut(strings.TrimPrefix(line, "."), " "); strings.HasPrefix(line, ".") && !known[macro] ||
			strings.HasPrefix(line, "'") {
			t.Errorf("line %d begins with what is not a macro of ours: %q", i+1, line)
		}
	}
	for _, want := range []string{
		"\n.SS \"posta run ANALYSIS\"\n", "\n.SS \"posta topology compose [FILE]\"\n", "\n.B \\-\\-rejects FILE\n", "\n.B \\-\\-strict\n",
		"130 interrupted",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, hidden := range []string{"posta probe", "posta man"} {
		if strings.Contains(page, hidden) {
			t.Errorf("the page has %q", hidden)
		}
	}
	if n := strings.Count(page, "Exit codes:"); n != 1 {
		t.Errorf("exit codes stand there %d times", n)
	}
}

func TestVersionCommand(t *testing.T) {
	if r := must(t, "version"); !strings.HasPrefix(r.out, "posta test, go") {
		t.Errorf("posta version prints %q", r.out)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(must(t, "version", "--json").out), &v); err != nil || v["version"] != "test" || v["os"] != runtime.GOOS ||
		v["arch"] != runtime.GOARCH {
		t.Errorf("posta version --json prints %v, %v", v, err)
	}
}
