package owned

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mode returns the mode of a path.
func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestS1_CheckRefusesWhatOthersMayEnter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	must(t, os.Mkdir(dir, 0o700), Check(dir))
	for _, m := range []fs.FileMode{0o701, 0o710, 0o740, 0o770, 0o777} {
		must(t, os.Chmod(dir, m))
		if err := Check(dir); !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), "chmod 700 "+dir) {
			t.Errorf("mode %#o: %v", m, err)
		}
		if got := mode(t, dir); got != m {
			t.Errorf("a look changed mode %#o to %#o", m, got)
		}
	}
	link := dir + "-link"
	must(t, os.Chmod(dir, 0o700), os.Symlink(dir, link))
	if err := Check(link); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a link: %v", err)
	}
	if err := Check(dir + "-none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}

// Only root can make files of another user. Otherwise the test takes a directory of root.
func TestS1_WhatBelongsToAnotherUserIsNamed(t *testing.T) {
	dir, below := "/", ""
	if os.Geteuid() == 0 {
		dir = t.TempDir()
		must(t, os.Chmod(dir, 0o700), os.Chown(dir, 65534, -1))
		mine := t.TempDir()
		below = filepath.Join(mine, "segment")
		must(t, os.WriteFile(below, nil, 0o600), os.Chown(below, 65534, -1))
		if err := Tree(mine); !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), below+" belongs to user 65534") {
			t.Errorf("a file of another user below: %v", err)
		}
	}
	for name, do := range map[string]func(string) error{"Check": Check, "Dir": Dir, "Tree": Tree} {
		if err := do(dir); !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), dir+" belongs to user") ||
			!strings.Contains(err.Error(), "chown -R") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestS1_TreeClosesWhatIsThere(t *testing.T) {
	top := filepath.Join(t.TempDir(), "data")
	deep := filepath.Join(top, "retired", "old")
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.MkdirAll(deep, 0o755), os.Chmod(top, 0o755),
		os.WriteFile(filepath.Join(deep, "segment"), nil, 0o644), os.WriteFile(filepath.Join(top, "fixed"), nil, 0o444),
		os.WriteFile(outside, nil, 0o644), os.Symlink(outside, filepath.Join(top, "link")))
	must(t, Tree(top), Tree(top))
	for path, want := range map[string]fs.FileMode{
		top: 0o700, filepath.Dir(deep): 0o700, deep: 0o700, filepath.Join(deep, "segment"): 0o600,
		filepath.Join(top, "fixed"): 0o400, // its owner cannot write it, and this stays so
		outside:                     0o644,
	} {
		if got := mode(t, path); got != want {
			t.Errorf("%s has mode %#o, want %#o", path, got, want)
		}
	}
	shared := t.TempDir()
	must(t, os.Chmod(shared, 0o777|fs.ModeSticky))
	if err := Tree(shared); !errors.Is(err, ErrOpen) || mode(t, shared) != 0o777 {
		t.Errorf("a directory for all users: %v, and it has mode %#o", err, mode(t, shared))
	}
	fresh := filepath.Join(t.TempDir(), "a", "b")
	must(t, Tree(fresh))
	if mode(t, fresh) != 0o700 || mode(t, filepath.Dir(fresh)) != 0o700 {
		t.Errorf("new directories have modes %#o and %#o", mode(t, filepath.Dir(fresh)), mode(t, fresh))
	}
	// A data directory may be a link to another disk.
	linked := filepath.Join(t.TempDir(), "linked")
	must(t, os.Symlink(top, linked), os.Chmod(filepath.Join(deep, "segment"), 0o666), Tree(linked))
	if got := mode(t, filepath.Join(deep, "segment")); got != 0o600 {
		t.Errorf("behind a link a file has mode %#o", got)
	}
}

func TestS1_WriteReplacesTheWholeFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "note")
	must(t, os.WriteFile(name, []byte("a longer text"), 0o644), Write(name, "new", false))
	if b, err := os.ReadFile(name); string(b) != "new" || err != nil || mode(t, name) != 0o600 {
		t.Errorf("%q with mode %#o, %v", b, mode(t, name), err)
	}
	if b, err := Read(name); string(b) != "new" || err != nil {
		t.Errorf("read back as %q, %v", b, err)
	}
	must(t, os.Chmod(name, 0o622))
	if _, err := Read(name); !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), "others may write "+name) {
		t.Errorf("a file that others may write: %v", err)
	}
	must(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	if err := Write(filepath.Join(dir, "taken"), "", true); err == nil {
		t.Error("a directory was replaced")
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}
