package wal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestE15_ScratchFilesEndWithTheLog: they have what was appended, a sweep leaves those that are in use, and the next log's sweep removes
// what a crash has left.
func TestE15_ScratchFilesEndWithTheLog(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, Options{FS: Unsynced})
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		entries, err := os.ReadDir(filepath.Join(dir, filesDir))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	one, err := l.NewScratch()
	if err != nil {
		t.Fatal(err)
	}
	two, err := l.NewScratch()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"some ", "", "rows"} {
		if err := one.Append([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.SweepFiles(nil); err != nil || count() != 2 {
		t.Fatalf("%d files after a sweep, %v", count(), err)
	}
	p := make([]byte, 6)
	if one.ReadAt(p, 3) != nil || !bytes.Equal(p, []byte("e rows")) || one.ReadAt(p, 4) == nil || two.ReadAt(p[:1], 0) == nil {
		t.Fatalf("%q was read, or bytes behind the end", p)
	}
	if err := two.Remove(); err != nil || count() != 1 {
		t.Fatalf("%d files after one was removed, %v", count(), err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.NewScratch(); err == nil {
		t.Fatal("a closed log makes a file")
	}
	if l, err = Open(dir, Options{FS: Unsynced}); err != nil {
		t.Fatal(err)
	}
	if err := l.SweepFiles(nil); err != nil || count() != 0 {
		t.Fatalf("%d files are left of a log that has ended, %v", count(), err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
