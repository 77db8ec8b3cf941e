package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFlagsMayFollowArguments(t *testing.T) {
	app := newCommand(program(), Console{}, &signals{}).app()
	for given, want := range map[string]string{
		"posta run bikes --data d":             "posta run --data d bikes",
		"posta run --data d bikes":             "posta run --data d bikes",
		"posta run bikes --json --data d":      "posta run --json --data d bikes",
		"posta run bikes --data=d -q":          "posta run --data=d -q bikes",
		"posta run bikes -p a=1 -p b=2":        "posta run -p a=1 -p b=2 bikes",
		"posta run --json bikes more":          "posta run --json bikes more",
		"posta log verify DIR --json":          "posta log verify --json DIR",
		"posta topology show t.toml --json":    "posta topology show --json t.toml",
		"posta run bikes --data":               "posta run --data bikes",
		"posta run bikes --unknown x":          "posta run --unknown bikes x",
		"posta log verify --json -- -odd":      "posta log verify --json -- -odd",
		"posta node -f t.toml joiner-1":        "posta node -f t.toml joiner-1",
		"posta run -":                          "posta run -",
		"posta nonsense --x y":                 "posta nonsense --x y",
		"posta help run":                       "posta run --help",
		"posta help":                           "posta --help",
		"posta --version":                      "posta --version",
		"posta":                                "posta",
		"posta run bikes --data -1 --lanes -3": "posta run --data -1 --lanes -3 bikes",
	} {
		if got := strings.Join(reorder(app, strings.Fields(given)), " "); got != want {
			t.Errorf("%s\n  becomes %s\n  want    %s", given, got, want)
		}
	}
}

func TestNamesThatWereMeant(t *testing.T) {
	for given, want := range map[string]bool{
		"status": true, "statu": true, "sttus": true, "statsu": true, "staus": true, "stat": true, "xtatus": true, "status2": true,
		"s": false, "down": false, "sessions": false, "": false,
	} {
		if got := closeTo("status", given); got != want {
			t.Errorf("%q for status: %v", given, got)
		}
	}
}

func TestCompletion(t *testing.T) {
	file := t.TempDir() + "/t.toml"
	must(t, "topology", "new", "--replicas", "joiner=3")
	writeTopology(t, file, "--replicas", "joiner=3")
	for _, c := range []struct {
		line string // the word being typed is the last one; "·" means that nothing of it is typed yet
		has  string
		not  string
	}{
		{"·", "run up status topology medic chaos", "help bikes --help"},
		{"run ·", "bikes", "run --data"},
		{"run --data d ·", "bikes", "--data"},
		{"run --data ·", "", "bikes"},
		{"run bikes ·", "", "bikes"},
		{"run bikes --da", "--data --help", "bikes"},
		{"run bikes --", "--sockets", "--transport"},
		{"topology ·", "check show graph new", "help topology"},
		{"topology show --", "--json --topology", "--out"},
		{"node -f " + file + " ·", "joiner-3 output-1", "joiner-4"},
		{"node -f nowhere ·", "", "joiner-1"},
		{"gen ·", "bikes", ""},
		{"completion ·", "bash fish zsh", "tcsh"},
		{"chaos -f " + file + " ·", "joiner-3 medic-1", "joiner-4"},
		{"chaos --fault ·", "kill pause", "joiner-1"},
		{"deploy logs -f --topology " + file + " ·", "joiner-3 medic-1", "bikes"},
		{"up -f " + file + " --host ·", "local", "joiner-1"},
		{"run bikes --format ·", "parquet jsonl", "bikes"},
		{"cancel -f nowhere ·", "", "bikes"},
		{"nonsense ·", "", "bikes"},
	} {
		words := append(strings.Fields(strings.ReplaceAll(c.line, "·", "")), "")
		if !strings.HasSuffix(c.line, "·") {
			words = words[:len(words)-1]
		}
		got := strings.Fields(must(t, append(words, completionFlag)...).out)
		for _, w := range strings.Fields(c.has) {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %s is missing in %v", c.line, w, got)
			}
		}
		for _, w := range strings.Fields(c.not) {
			if slices.Contains(got, w) {
				t.Errorf("%s: %s is in %v", c.line, w, got)
			}
		}
	}
}

// TestFilesOfStatementsAreCompleted: completion names files of statements where such a file may be given. If none fits, it prints nothing,
// and the shell itself completes files and directories.
func TestFilesOfStatementsAreCompleted(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.sql", "b.sql", "a b.sql", "a.csv", "a\nb.sql"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d.sql"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"submit", dir + "/"}, dir + "/a b.sql\n" + dir + "/a.sql\n" + dir + "/b.sql\n"},
		{[]string{"submit", dir + "/b"}, dir + "/b.sql\n"},
		{[]string{"submit", dir[:len(dir)-1]}, ""},
		{[]string{"submit", "bik"}, "bikes\n"},
		{[]string{"sql", "-f", dir + "/a"}, dir + "/a b.sql\n" + dir + "/a.sql\n"},
		{[]string{"sql", "--data", dir + "/a"}, ""},
	} {
		if got := must(t, append(c.words, completionFlag)...).out; got != c.want {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}
