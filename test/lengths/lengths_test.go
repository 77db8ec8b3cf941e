package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLongLinesAndFunctionsAreFound(t *testing.T) {
	long := "// " + strings.Repeat("é", mostColumns-2) + "\n"
	raw := "var r = `" + strings.Repeat("x", mostColumns) + "\n" + strings.Repeat("y", mostColumns+1) + "`\n"
	body := "func f() {\n" + strings.Repeat("\tf()\n", mostLines-1) + "}\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go": "package a\n\n" + long + raw, "a/b.go": "package a\n\n" + body, "a/b_test.go": "package a\n\n" +
			body, "test/c/c.go": "package c\n\n" + body,
		"a/testdata/d.go": long, "a/e.go": "package a\n\n" + long[:len(long)-3] + "\n" + strings.Replace(body, "\tf()\n", "", 1),
	} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, inRaw, err := look(dir)
	want := []string{"a/a.go:3: 141 columns, at most 140 are read", "a/b.go:3: f has 71 lines, at most 70 are read: give its steps names"}
	if err != nil || !slices.Equal(found, want) || inRaw != 2 {
		t.Errorf("found %q, %d lines in raw strings, %v, want %q and 2", found, inRaw, err, want)
	}
}
