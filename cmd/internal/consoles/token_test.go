package consoles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestS6_TheTokenOfScrapers: the token is in a file that only its user can read, and is too long to be guessed.
func TestS6_TheTokenOfScrapers(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string // of the error; "": the token is accepted
	}{
		"good":          {"0123456789abcdef\n", 0o600, ""},
		"short":         {"0123456789abcde\n", 0o600, "at least 16"},
		"two words":     {"0123456789 abcdef", 0o600, "one word"},
		"of others too": {"0123456789abcdef", 0o644, "chmod 600"},
		"empty":         {"", 0o600, "at least 16"},
		"no text":       {"0123456789abcde\x00f", 0o600, "one word"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		token, err := scrapeToken(file)
		if c.want == "" && (err != nil || token != "0123456789abcdef") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v", name, token, err)
		}
	}
	if _, err := scrapeToken(filepath.Join(dir, "missing")); err == nil {
		t.Error("a file that is not there has a token")
	}
	if token, err := scrapeToken(""); token != "" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
}
