package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// sockets returns the directory that posta up has noted.
func (k *testCluster) sockets() string {
	k.t.Helper()
	note, err := os.ReadFile(filepath.Join(k.dir, "cluster", "address"))
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(note)), "ipc:")
	if err != nil || !ok {
		k.t.Fatalf("the note says %q, %v", note, err)
	}
	return dir
}

// topology calls a command of posta topology.
func (k *testCluster) topology(command string, flags ...string) result {
	k.t.Helper()
	return posta(k.t, append([]string{"topology", command, k.file}, flags...)...)
}

// TestS1_OtherUsersDoNotEnterTheSockets: by default a cluster of one machine has no port.
func TestS1_OtherUsersDoNotEnterTheSockets(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := k.sockets()
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", dir, info.Mode(), err)
	}
	if r := k.topology("show"); !strings.Contains(r.out, "unix sockets in "+dir) {
		t.Errorf("posta topology show does not tell where they are:\n%s", r.out)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"up", "status", "down", "sessions"} {
		if r := k.call(command); r.code == exit.OK || !strings.Contains(r.err, "others may enter "+dir) {
			t.Errorf("with a directory that is open %s ends with %d: %s", command, r.code, r.err)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	k.must("down")
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("posta down leaves %s: %v", dir, err)
	}
}

// TestS1_UpAfterTheSocketsWereSwept: running nodes listen on sockets that no process can open any more. Another posta
// up has to end them, or the cluster would be neither up nor down.
func TestS1_UpAfterTheSocketsWereSwept(t *testing.T) {
	k := newTestCluster(t)
	dir := data(t, "20000")
	want := expected(t, dir)
	k.must("up")
	before := k.pid("joiner-1")
	if err := os.RemoveAll(k.sockets()); err != nil {
		t.Fatal(err)
	}
	if r := k.call("status"); r.code != exit.NoCluster || !strings.Contains(r.err, "which somebody removed") {
		t.Errorf("status ends with %d: %s", r.code, r.err)
	}
	if r := k.must("up"); !strings.Contains(r.err, "no client reaches what still runs") {
		t.Errorf("up says %q", r.err)
	}
	if now := k.pid("joiner-1"); now == before || !gone(before) {
		t.Errorf("joiner-1 is process %d, and was %d, gone: %v", now, before, gone(before))
	}
	same(t, parse(t, k.must("submit", "bikes", "--data", dir, "--json").out), want)
	// Only the note is removed, and the nodes do not notice.
	swept := k.sockets()
	t.Cleanup(func() { _ = os.RemoveAll(swept) })
	if err := os.Remove(filepath.Join(k.dir, "cluster", "address")); err != nil {
		t.Fatal(err)
	}
	if r := k.must("down"); !strings.Contains(r.err, "stopped 7 nodes") {
		t.Errorf("down says %q", r.err)
	}
}

// TestS1_ContainersAndProcessesOfOneFile: the note says whether containers or processes run the cluster, and neither takes it over from the
// other.
func TestS1_ContainersAndProcessesOfOneFile(t *testing.T) {
	k := newTestCluster(t)
	for range 2 { // make up, and again
		if r := k.topology("published"); r.code != exit.OK || r.err != "" {
			t.Fatalf("published ends with %d: %s", r.code, r.err)
		}
	}
	if r := k.call("up"); r.code != exit.Failed || !strings.Contains(r.err, "containers have the cluster") {
		t.Errorf("up ends with %d: %s", r.code, r.err)
	}
	if r := k.topology("show"); !strings.Contains(r.out, "127.0.0.1, ports from 5500") {
		t.Errorf("commands look for the containers at\n%s", r.out)
	}
	k.must("down") // there is nothing to stop, and the containers keep running
	if r := k.topology("show"); !strings.Contains(r.out, "127.0.0.1, ports from 5500") {
		t.Errorf("after posta down commands look for the containers at\n%s", r.out)
	}
	k.topology("published", "--end")
	k.must("up")
	if r := k.topology("published"); r.code != exit.Failed || !strings.Contains(r.err, "posta down") {
		t.Errorf("published ends with %d: %s", r.code, r.err)
	}
	k.topology("published", "--end") // make down after posta up
	k.shows("7 of 7 nodes", func(out string) bool { return strings.Contains(out, "7 of 7 nodes up") })
}

func TestStatusOfAnAddressWithoutACluster(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{IPCDir: temp.Sockets(t)})
	if r := k.call("status"); r.code != exit.NoCluster || strings.Count(r.out, "silent") != 10 || !strings.Contains(r.err, "posta up") {
		t.Errorf("status of nobody: exit code %d, %s%s", r.code, r.out, r.err)
	}
}

// TestS1_DataIsForItsUserAlone: this holds for any umask, and for files that a former version of the program left open. The files hold
// rows, answers and passwords of brokers.
func TestS1_DataIsForItsUserAlone(t *testing.T) {
	former := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(former) })
	k := newTestCluster(t)
	if r := k.call("up"); r.code == exit.OK || !strings.Contains(r.err, "others may write in "+k.dir) {
		t.Errorf("where others can replace the data directory up ends with %d: %s", r.code, r.err)
	}
	if err := os.Chmod(k.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	k.must("up")
	k.must("submit", "bikes", "--data", data(t, "1000"), "--json")
	top := filepath.Join(k.dir, "cluster")
	if n := openToOthers(t, top); n < 40 {
		t.Errorf("only %d files and directories were looked at", n)
	}
	k.must("down")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
	k.must("up")
	openToOthers(t, top)
}

// openToOthers counts the files below a directory that other users can read.
func openToOthers(t *testing.T, top string) (n int) {
	t.Helper()
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		n++
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return n
}
