package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ruleNumber is a message that begins with the number of a rule. People who get an answer, or none, do not know the rules. Panics and the
// log of a node, for those who look for bugs, may have them.
var ruleNumber = regexp.MustCompile(`(Errorf|errors\.New|Sprintf|NewError)\(\s*"[A-Z][0-9]+: `)

// TestNoMessageBeginsWithARule: the errors of sessions, commands and nodes are for people.
func TestNoMessageBeginsWithARule(t *testing.T) {
	read := 0
	for _, dir := range []string{"analyses", "client", "cmd", "console", "nodes", "protocol", "query"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for i, line := range strings.Split(string(text), "\n") {
				if read++; ruleNumber.MatchString(line) && !strings.Contains(line, "panic(") {
					t.Errorf("%s:%d: %s", path, i+1, strings.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	if read < 50_000 {
		t.Errorf("%d lines were read; has the project moved?", read)
	}
}
