package wal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestFingerprint_ShowsEveryChange: the fingerprint shows every change of a head, a segment and a snapshot, even if a copy restores the
// former size and times. Computing it changes nothing, and files beside the log do not affect it.
func TestFingerprint_ShowsEveryChange(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	l, err := Open(dir, Options{})
	must(t, err)
	_, err = l.Append(Record{Type: 1, Parts: [][]byte{[]byte("record")}})
	must(t, err)
	must(t, l.SaveSnapshot(1, []byte("state")))
	must(t, l.Close())
	last, err := Fingerprint(dir)
	must(t, err)
	differs := func(what string, want bool) {
		t.Helper()
		now, err := Fingerprint(dir)
		must(t, err)
		if (now != last) != want {
			t.Errorf("%s: changed: %v", what, now != last)
		}
		last = now
	}
	differs("nothing was done", false)
	must(t, os.WriteFile(filepath.Join(dir, "deaths"), []byte("x"), filePerm))
	must(t, os.Remove(filepath.Join(dir, lockName)))
	differs("beside the log", false)
	for _, name := range []string{headName, segmentRel(1), snapshotName{at: 1}.rel()} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		must(t, os.WriteFile(path, b[1:], filePerm))
		differs(name+" is shorter", true)
		must(t, os.WriteFile(path, b, filePerm))
		must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		differs(name+" is as it was", true)
		must(t, os.Remove(path))
		differs(name+" is removed", true)
	}
	must(t, os.RemoveAll(dir))
	if _, err := Fingerprint(dir); err == nil {
		t.Error("a directory that is not there has one")
	}
}

// TestN9_OnLockedComesFirst: OnLocked is called before anything is read, and only after the directory is locked. If it fails, its error
// ends Open.
func TestN9_OnLockedComesFirst(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, Options{})
	must(t, err)
	called := 0
	o := Options{OnLocked: func() error { called++; return os.ErrProcessDone }}
	if _, err := Open(dir, o); called != 0 || err == nil {
		t.Fatalf("another has the directory, and it is called %d times, %v", called, err)
	}
	must(t, l.Close())
	must(t, os.WriteFile(filepath.Join(dir, headName), []byte("rubbish"), filePerm)) // Open would complain about this
	for n := 1; n < 3; n++ {
		if _, err := Open(dir, o); called != n || !errors.Is(err, os.ErrProcessDone) {
			t.Fatalf("it is called %d times, %v", called, err)
		}
	}
}
