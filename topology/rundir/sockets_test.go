package rundir

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// runtimeDir sets XDG_RUNTIME_DIR to a directory as the system makes it, with a short path.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir := temp.Sockets(t)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return dir
}

// at returns a topology without addresses, with its data in a directory of its own.
func at(t *testing.T, v topology.Variant) *topology.Topology {
	t.Helper()
	v.Dir = filepath.Join(t.TempDir(), "data")
	return temp.Parsed(t, v)
}

// made makes the directory of the sockets, and returns it as another command finds it.
func made(t *testing.T, top *topology.Topology) string {
	t.Helper()
	if err := MakeSockets(top); err != nil {
		t.Fatal(err)
	}
	address, err := Address(top.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	dir, ok := strings.CutPrefix(address, "ipc:")
	if err := owned.Check(dir); !ok || err != nil {
		t.Fatalf("address %s: %v", address, err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestS1_SocketsAreFoundInAnyEnvironment(t *testing.T) {
	top := at(t, topology.Variant{})
	base := runtimeDir(t)
	dir := made(t, top)
	if filepath.Dir(dir) != base || len(filepath.Base(dir)) != len("posta-01234567") {
		t.Errorf("%s is not posta-HEX8 in %s", dir, base)
	}
	if again := made(t, top); again != dir {
		t.Errorf("the same data has its sockets in %s and in %s", dir, again)
	}
	if other := made(t, at(t, topology.Variant{})); other == dir {
		t.Error("two clusters have one directory")
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", "/nowhere")
	if address, err := Address(top.DataDir); address != "ipc:"+dir || err != nil {
		t.Errorf("in another environment it is %s, %v", address, err)
	}
}

func TestS1_ARuntimeDirectoryThatOthersMayEnterIsNotUsed(t *testing.T) {
	base := runtimeDir(t)
	tmp := temp.Sockets(t)
	t.Setenv("TMPDIR", tmp)
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	if dir := made(t, at(t, topology.Variant{})); filepath.Dir(dir) != tmp {
		t.Errorf("sockets are in %s", dir)
	}
}

// TestS1_ASocketDirectoryThatWasOpenedOrReplacedIsNamed: a user that may enter it can put other sockets there.
func TestS1_ASocketDirectoryThatWasOpenedOrReplacedIsNamed(t *testing.T) {
	runtimeDir(t)
	top := at(t, topology.Variant{})
	dir := made(t, top)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	refused := func(what string) {
		t.Helper()
		for name, do := range map[string]func() error{
			"a command": func() error { _, err := Address(top.DataDir); return err },
			"down":      func() error { return RemoveSockets(top.DataDir) },
			"up":        func() error { return MakeSockets(top) },
		} {
			if err := do(); err == nil || errors.Is(err, ErrNotUp) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %s gets %v", what, name, err)
			}
		}
	}
	refused("open to others")
	if err := errors.Join(os.Chmod(dir, 0o700), os.Rename(dir, dir+"-moved"), os.Symlink(dir+"-moved", dir)); err != nil {
		t.Fatal(err)
	}
	refused("a link")
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o700), os.Chown(dir, 65534, -1)); err != nil {
			t.Fatal(err)
		}
		refused("another user's")
	}
}

// TestS1_WhatACrashLeavesIsMadeAnew: the sockets are created again if there is no note, a damaged note, or a note whose directory is gone.
func TestS1_WhatACrashLeavesIsMadeAnew(t *testing.T) {
	runtimeDir(t)
	top := at(t, topology.Variant{})
	for name, spoil := range map[string]func(dir string) error{
		"no note":               func(string) error { return os.Remove(filepath.Join(top.DataDir, addressFile)) },
		"an empty note":         func(string) error { return os.Truncate(filepath.Join(top.DataDir, addressFile), 0) },
		"a directory less":      os.RemoveAll,
		"a relative directory":  func(string) error { return NoteAddress(top.DataDir, "ipc:sock") },
		"another kind of place": func(string) error { return NoteAddress(top.DataDir, "tcp://10.0.0.1") },
	} {
		if err := spoil(made(t, top)); err != nil {
			t.Fatal(err)
		}
		if address, err := Address(top.DataDir); !errors.Is(err, ErrNotUp) || address != "" {
			t.Errorf("%s: %q, %v", name, address, err)
		}
		made(t, top)
	}
	if err := os.Chmod(filepath.Join(top.DataDir, addressFile), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Address(top.DataDir); !errors.Is(err, owned.ErrOpen) || errors.Is(err, ErrNotUp) {
		t.Errorf("a note that everybody may write: %v", err)
	}
}

func TestS1_DownRemovesTheSocketsAndNothingElse(t *testing.T) {
	runtimeDir(t)
	top := at(t, topology.Variant{})
	listen := func(dir string) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "input-1.client"), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false) // as a killed process leaves it
		_ = l.Close()
	}
	dir := made(t, top)
	listen(dir)
	if err := RemoveSockets(top.DataDir); err != nil || exists(dir) {
		t.Errorf("%v, and %s is there: %v", err, dir, exists(dir))
	}
	if _, err := Address(top.DataDir); !errors.Is(err, ErrNotUp) {
		t.Errorf("after down: %v", err)
	}
	if err := RemoveSockets(top.DataDir); err != nil {
		t.Errorf("a second time: %v", err)
	}
	dir = made(t, top)
	listen(dir)
	theirs := filepath.Join(dir, "of-somebody")
	if err := os.WriteFile(theirs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveSockets(top.DataDir); err == nil || !exists(theirs) {
		t.Errorf("a file that nobody knows: %v, there %v", err, exists(theirs))
	}
}

// TestS1_SocketsHaveShortPathsOrAnErrorInWords: the path of a unix socket has at most 103 bytes, and some directories leave too few of
// them.
func TestS1_SocketsHaveShortPathsOrAnErrorInWords(t *testing.T) {
	long := strings.Repeat("x", 60)
	base := filepath.Join(runtimeDir(t), long)
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	top := at(t, topology.Variant{Replicas: map[string]int{"aggregator": 10}})
	for _, v := range []string{"XDG_RUNTIME_DIR", "TMPDIR"} {
		t.Setenv(v, base)
	}
	if dir := made(t, top); filepath.Dir(dir) != "/tmp" {
		t.Errorf("sockets are in %s", dir)
	}
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := temporarySocketDir(10); err == nil || !strings.Contains(err.Error(), "103 bytes") {
		t.Errorf("no room at all: %v", err)
	}
	t.Setenv("TMPDIR", "/nowhere")
	t.Setenv("XDG_RUNTIME_DIR", "/nowhere")
	if dir := made(t, top); filepath.Dir(dir) != "/tmp" {
		t.Errorf("sockets are in %s", dir)
	}
}

func TestS1_APrivateClusterDoesNotTakeOneThatIsUp(t *testing.T) {
	runtimeDir(t)
	top := at(t, topology.Variant{})
	before := made(t, top)
	file := filepath.Join(t.TempDir(), "t.toml")
	if err := os.WriteFile(file, []byte(top.Canonical(nil)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := NewRunDir(RunDirConfig{Dir: t.TempDir(), File: file})
	if err == nil || !strings.Contains(err.Error(), "posta down") {
		t.Errorf("a run with the data of a cluster that is up: %v", err)
	}
	if address, err := Address(top.DataDir); address != "ipc:"+before || err != nil {
		t.Errorf("the cluster is at %s now, %v", address, err)
	}
}

func TestS1_ARunNotesItsSocketsForItsNodes(t *testing.T) {
	s := newRunDir(t, RunDirConfig{Dir: t.TempDir()})
	address, err := Address(s.Topology.DataDir)
	if err != nil || s.Topology.Hosts[0].Address != address {
		t.Errorf("the nodes are told %s, %v; this process says %s", address, err, s.Topology.Hosts[0].Address)
	}
	if info, err := os.Stat(filepath.Join(s.Dir, "topology.toml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the topology, which may have passwords: %v, %v", info.Mode(), err)
	}
	if err := s.Close(false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(strings.TrimPrefix(address, "ipc:")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the sockets is left behind: %v", err)
	}
}

// TestS1_ASocketDirectoryOfTheTopologyIsChecked: a directory that the topology names has to belong to this user alone, too.
func TestS1_ASocketDirectoryOfTheTopologyIsChecked(t *testing.T) {
	dir := runtimeDir(t)
	text, err := topology.Generate(topology.Variant{IPCDir: dir, Dir: filepath.Join(t.TempDir(), "data")})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "t.toml")
	top, err := topology.Parse(file, []byte(text))
	if err = errors.Join(err, os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := CheckSocketDirs(top); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := CheckSocketDirs(top); !errors.Is(err, owned.ErrOpen) || !strings.Contains(err.Error(), "chmod 700 "+dir) {
		t.Errorf("a directory that others may enter: %v", err)
	}
	if _, err := NewRunDir(RunDirConfig{File: file, Dir: t.TempDir()}); !errors.Is(err, owned.ErrOpen) {
		t.Errorf("a run there: %v", err)
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 65534, -1)); err != nil {
			t.Fatal(err)
		}
		if err := CheckSocketDirs(top); !errors.Is(err, owned.ErrOpen) || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Errorf("another user's directory: %v", err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := CheckSocketDirs(top); err != nil {
		t.Errorf("one that is not there yet: %v", err)
	}
}

// TestTheSocketsComeBackWhereTheyWere: what is open over posta down and posta up dials the same paths. A name that somebody else has taken
// is not used.
func TestTheSocketsComeBackWhereTheyWere(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	top := at(t, topology.Variant{})
	first := made(t, top)
	again := func() string {
		t.Helper()
		if err := RemoveSockets(top.DataDir); err != nil {
			t.Fatal(err)
		}
		return made(t, top)
	}
	if second := again(); second != first {
		t.Errorf("%s becomes %s", first, second)
	}
	if err := RemoveSockets(top.DataDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), first); err != nil { // others may make names where temporary files are
		t.Fatal(err)
	}
	if third := made(t, top); third == first {
		t.Error("the sockets are behind a link")
	}
}
