package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLastLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	for text, want := range map[string]string{
		"": "", "\n\n": "", "one": "one", "one\ntwo\n\n": "two", strings.Repeat("x\n", 9000) + "end\n": "end",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := lastLine(name); got != want {
			t.Errorf("of %.20q the last line is %q, want %q", text, got, want)
		}
	}
	if got := lastLine(name + ".none"); got != "" {
		t.Errorf("a file that is not there ends with %q", got)
	}
}
