package command

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

func TestChild_OnlyOfTheBench(t *testing.T) {
	for _, args := range [][]string{nil, {"posta"}, {"posta", "bench"}, {"posta", "bench", "link"}, {"posta", "child", "x"}} {
		if _, ok := Child(args); ok {
			t.Errorf("%q is taken for a child", args)
		}
	}
	if got, ok := Child([]string{"posta", "bench", "child", "", "node"}); !ok || !slices.Equal(got, []string{"child", "", "node"}) {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestMeasure_SaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"links"}, "race-bikes"},
		{[]string{"--sizes", "x", "log"}, "--sizes"},
		{[]string{"--set", "window", "log"}, "--set"},
		{[]string{"--rounds", "0", "log"}, "--rounds 0"},
		{[]string{"--contestants", "duckdb,nobody", "--rows", "10", "race-bikes"}, `"nobody"`},
	} {
		var out bytes.Buffer
		app := &cli.App{Commands: []*cli.Command{New()}, Writer: &out}
		err := app.Run(append([]string{"posta", name, "--dir", dir, "--results", ""}, x.args...))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want something about %s", x.args, err, x.want)
		}
	}
}

// TestExamplesFitTheHelp: the command line leaves lines that begin with a blank as they are, and its help is at most 80 columns wide.
func TestExamplesFitTheHelp(t *testing.T) {
	for _, line := range strings.Split(New().Description, "\n") {
		if strings.HasPrefix(line, " ") && utf8.RuneCountInString(line) > 80 {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
}
