package medics

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/test/e2e/clustertest"
)

// Nothing of a restart needs room on the disk: nodes and the leader are killed while it is full, and all come back.
func TestW5_AFullDiskKeepsNobodyDown(t *testing.T) {
	dir := t.TempDir()
	disk := filepath.Join(dir, "data")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64m"); err != nil {
		t.Fatalf("mount a small tmpfs: %v; run this test as root (in a container: with CAP_SYS_ADMIN)", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	c := upIn(t, dir, nil)
	fill := func() {
		f, err := os.OpenFile(filepath.Join(disk, "filler"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		for size := 1 << 20; size > 0; size /= 2 {
			for err = error(nil); err == nil; {
				_, err = f.Write(make([]byte, size))
			}
		}
	}
	fill()
	c.kill("joiner-1")
	fill() // what a death has given back goes to somebody else
	leader := c.Leader()
	c.kill(leader)
	fill()
	c.kill("input-1", c.Followers()[0])
	fill()
	job := clustertest.Bikes(t, 200_000)
	out, err := exec.Command(os.Args[0], "submit", "bikes", "--data", job.Dir, "--timeout", "4s", "-f", c.topo.File).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not finished in time") || !strings.Contains(string(out), "is full: make room there") &&
		!strings.Contains(string(out), "are full: make room there") {
		t.Errorf("who waits is not told of the full disk: %v: %s", err, out)
	}
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	l := c.load(2000)
	c.Until("two analyses once there is room", func() bool { return l.Done() >= 2 })
	l.End()
}
