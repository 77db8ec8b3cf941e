package medics

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/test/e2e/clustertest"
)

// A restart needs no room on the disk: nodes and the leader are killed while it is full, and all come back. They also
// come back after posta down and posta up.
func TestW5_AFullDiskKeepsNoNodeDown(t *testing.T) {
	dir := t.TempDir()
	d := newDisk(t, filepath.Join(dir, "disk"), filepath.Join(dir, "cluster"), "64m")
	c := upIn(t, dir, nil)
	fill := func() {
		if err := d.fill(); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	c.kill("joiner-1")
	fill() // another process takes the room that a death has freed
	leader := c.Leader()
	c.kill(leader)
	fill()
	c.kill("input-1", c.Followers()[0])
	fill()
	job := clustertest.Bikes(t, 200_000)
	out, err := exec.Command(os.Args[0], "submit", "bikes", "--data", job.Dir, "--timeout", "4s", "-f", c.topo.File).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not finished in time") || !strings.Contains(string(out), "is full: make room there") &&
		!strings.Contains(string(out), "are full: make room there") {
		t.Errorf("the waiting command does not report the full disk: %v: %s", err, out)
	}
	c.posta("down")
	fill()
	c.posta("up")
	if err := d.free(); err != nil {
		t.Fatal(err)
	}
	l := c.load(2000)
	c.Until("two analyses once there is room", func() bool { return l.Done() >= 2 })
	l.End()
}
