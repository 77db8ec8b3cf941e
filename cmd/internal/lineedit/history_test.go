package lineedit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func open(t *testing.T, name string) *History {
	t.Helper()
	h, err := OpenHistory(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistoryIsKeptAndShared(t *testing.T) {
	name := filepath.Join(t.TempDir(), "below", "history")
	a, b := open(t, name), open(t, name)
	for _, c := range []struct {
		h     *History
		entry string
	}{{a, "one"}, {a, "one"}, {b, "two"}, {a, ""}, {a, "three"}} {
		if err := c.h.Keep(c.entry); err != nil {
			t.Fatal(err)
		}
	}
	if c := open(t, name); c.Len() != 3 || c.At(0) != "three" || c.At(2) != "one" {
		t.Errorf("%q", c.entries)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestR16_HistoryIsBounded: a file of any size is cut, and only its complete lines are taken.
func TestR16_HistoryIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(name, []byte(strings.Repeat("x", 100)+"\n"+strings.Repeat(strings.Repeat("y", 3000)+"\nz\n", 800)),
		0o600); err != nil {
		t.Fatal(err)
	}
	h := open(t, name)
	if n := h.Len(); n == 0 || n > mostEntries || slices.ContainsFunc(h.entries, func(e string) bool { return len(e) != 3000 && e != "z" }) {
		t.Errorf("%d entries", n)
	}
	if info, err := os.Stat(name); err != nil || info.Size() > mostBytes {
		t.Errorf("%v, %v", info, err)
	}
	for i := range 3 * mostEntries {
		h.remember(strings.Repeat("a", i%7+1))
	}
	if h.Len() != mostEntries {
		t.Errorf("%d entries", h.Len())
	}
}

// TestHistoryWithoutAFileIsUsable: a file that cannot be read or written is reported once.
func TestHistoryWithoutAFileIsUsable(t *testing.T) {
	h, err := OpenHistory(t.TempDir())
	if err == nil || h.Keep("a") != nil || h.Len() != 1 {
		t.Errorf("%v, %v", h, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err = OpenHistory(filepath.Join(file, "history")); err == nil || h.Keep("a") != nil || h.Len() != 1 {
		t.Errorf("%v, %v", h, err)
	}
}
