package owned

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const stranger = 65534 // another user

// asRoot reports whether the test runs as root, which alone can make files of another user. For other users such a test has
// nothing to do; CI runs it as root.
func asRoot(t *testing.T) bool {
	t.Helper()
	return os.Geteuid() == 0
}

// TestS1_ALockIsNoLink: if somebody puts a link in the place of a lock, its target must not be opened for writing.
func TestS1_ALockIsNoLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o600))
	for name, plant := range map[string]func(string) error{
		"a symbolic link":    func(at string) error { return os.Symlink(victim, at) },
		"has 2 names":        func(at string) error { return os.Link(victim, at) },
		"not a regular file": func(at string) error { return syscall.Mkfifo(at, 0o600) },
	} {
		at := filepath.Join(dir, "lock")
		must(t, plant(at))
		if f, err := Open(at); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
		must(t, os.Remove(at))
	}
	at := filepath.Join(dir, "lock")
	must(t, os.WriteFile(at, []byte("7"), 0o644))
	f, err := Open(at)
	if err != nil {
		t.Fatal(err)
	}
	must(t, f.Close())
	if b, err := os.ReadFile(at); string(b) != "7" || err != nil || mode(t, at) != 0o600 {
		t.Errorf("Open changed the file to %q with mode %#o, %v", b, mode(t, at), err)
	}
	if asRoot(t) {
		must(t, os.Chown(at, stranger, -1))
		if f, err := Open(at); !errors.Is(err, ErrOpen) {
			t.Errorf("another user's: %v, %v", f, err)
		}
	}
	if b, err := os.ReadFile(victim); string(b) != "mine" || err != nil {
		t.Errorf("the victim has %q, %v", b, err)
	}
}

// TestS1_WriteFollowsNoLink: everybody knows the name that Write uses before the rename.
func TestS1_WriteFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	name, victim := filepath.Join(dir, "note"), filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o600))
	for what, plant := range map[string]func(string) error{
		"a symbolic link": func(at string) error { return os.Symlink(victim, at) },
		"a hard link":     func(at string) error { return os.Link(victim, at) },
		"a pipe":          func(at string) error { return syscall.Mkfifo(at, 0o666) },
		"a crash's file":  func(at string) error { return os.WriteFile(at, []byte("half a no"), 0o666) },
	} {
		must(t, plant(name+".tmp"), Write(name, "new", true))
		info, err := os.Lstat(name)
		if err != nil || info.Mode() != FileMode {
			t.Errorf("%s: the note is %v, %v", what, info, err)
		}
		if b, err := Read(name); string(b) != "new" || err != nil {
			t.Errorf("%s: the note has %q, %v", what, b, err)
		}
		must(t, os.Remove(name))
	}
	if b, err := os.ReadFile(victim); string(b) != "mine" || err != nil {
		t.Errorf("the victim has %q, %v", b, err)
	}
	must(t, os.MkdirAll(filepath.Join(name+".tmp", "full"), 0o700))
	if err := Write(name, "new", false); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("a directory in the way: %v", err)
	}
}

// TestS1_ReadNeitherWaitsNorSwallows: opening a pipe would block, and a device has no end.
func TestS1_ReadNeitherWaitsNorSwallows(t *testing.T) {
	dir := t.TempDir()
	pipe, large, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "large"), filepath.Join(dir, "link")
	must(t, syscall.Mkfifo(pipe, 0o600), os.WriteFile(large, nil, 0o600), os.Truncate(large, maxRead+1), os.Symlink(large, link))
	for name, want := range map[string]string{pipe: "not a regular file", large: "bytes", link: "link"} {
		if _, err := Read(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, os.Truncate(large, maxRead))
	if b, err := Read(large); len(b) != maxRead || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestS1_PathRefusesWhatOthersCanReplace: a user that may rename a directory can replace it with another one.
func TestS1_PathRefusesWhatOthersCanReplace(t *testing.T) {
	top := t.TempDir()
	above, own := filepath.Join(top, "above"), filepath.Join(top, "own")
	dir := filepath.Join(above, "way", "dir")
	must(t, os.MkdirAll(dir, 0o755), os.Mkdir(own, 0o755), Path(dir), Path(filepath.Join(dir, "not", "there")), Path("/"), Path("."))
	refused := func(what, dir, want string) {
		t.Helper()
		if err := Path(dir); !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.Chmod(above, 0o777))
	refused("writable by all", dir, "others may write in "+above)
	refused("writable by all, and nothing there yet", filepath.Join(above, "new"), "others may write in "+above)
	must(t, os.Symlink(dir, filepath.Join(own, "link")))
	refused("behind a link", filepath.Join(own, "link", "x"), "others may write in "+above)
	must(t, os.Symlink("../above/way", filepath.Join(own, "relative")))
	refused("behind a relative link", filepath.Join(own, "relative", "x"), "others may write in "+above)
	must(t, os.Chmod(above, 0o777|fs.ModeSticky), Path(dir), Path(filepath.Join(own, "link", "x")))
	must(t, os.Chmod(above, 0o755), os.Symlink("loop", filepath.Join(own, "loop")))
	if err := Path(filepath.Join(own, "loop", "x")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link to itself: %v", err)
	}
	if !asRoot(t) {
		return
	}
	must(t, os.Chown(above, -1, stranger), os.Chmod(above, 0o775))
	refused("writable by a group", dir, "others may write in "+above)
	must(t, os.Chown(above, -1, 0), Path(dir)) // a group of this user alone
	must(t, os.Chown(above, stranger, 0), os.Chmod(above, 0o755))
	refused("another user's", dir, above+" belongs to user")
	refused("another user's, and nothing there yet", filepath.Join(above, "new"), above+" belongs to user")
	must(t, os.Chown(above, 0, 0), os.Chmod(above, 0o777|fs.ModeSticky), os.Symlink(own, filepath.Join(above, "trap")),
		os.Lchown(filepath.Join(above, "trap"), stranger, stranger))
	refused("another user's link", filepath.Join(above, "trap", "x"), "is a link of user")
	refused("another user's link at the end", filepath.Join(above, "trap"), "is a link of user")
}

// TestS1_WritersLetsOthersRead: a directory that the user has named keeps its mode.
func TestS1_WritersLetsOthersRead(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755), Writers(dir))
	for _, m := range []fs.FileMode{0o757, 0o777, 0o777 | fs.ModeSticky} {
		must(t, os.Chmod(dir, m))
		if err := Writers(dir); !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), "others may write in "+dir) {
			t.Errorf("mode %v: %v", m, err)
		}
	}
	if asRoot(t) {
		must(t, os.Chmod(dir, 0o700), os.Chown(dir, stranger, -1))
		if err := Writers(dir); !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), "belongs to user") {
			t.Errorf("another user's: %v", err)
		}
	}
}

// TestS1_WhatIsClosedIsSaid: if the directory was shared on purpose, its owner must learn why others cannot enter it any
// more.
func TestS1_WhatIsClosedIsSaid(t *testing.T) {
	var said bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	defer slog.SetDefault(was)
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "log"), nil, 0o600), Tree(dir))
	if said.Len() > 0 {
		t.Errorf("of a closed directory it says %s", &said)
	}
	must(t, os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, "log"), 0o644), Tree(dir))
	for _, want := range []string{"others could", "directory=" + dir, "one=log"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it does not say %q: %s", want, &said)
		}
	}
}
