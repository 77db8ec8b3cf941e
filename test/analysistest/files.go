package analysistest

import (
	"os"
	"path/filepath"
	"testing"
)

// Files holds the contents of a data directory's files, by path with slashes.
type Files map[string]string

// Write writes the files to a temporary directory of the test, which it returns.
func (f Files) Write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
