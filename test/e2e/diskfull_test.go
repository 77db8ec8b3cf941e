package e2e

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
)

// TestW5_DiskFull gives one node a disk of its own on which something else takes the room in the middle of a run. The node
// says so and takes nothing; when there is room again it goes on by itself, and the answer is right.
func TestW5_DiskFull(t *testing.T) {
	d := generated(t, 200_000)
	for _, id := range []topology.NodeID{"input-1", "joiner-1", "aggregator-1"} {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			disk := tinyDisk(t)
			v := tight()
			v.Dir = t.TempDir()
			moved(t, filepath.Join(v.Dir, string(id)), disk)
			c := start(t, v)
			b := c.listen()
			r := c.begin(deadline(t, time.Minute), client.Config{Find: slowly(d.dir, 2<<20), Chunk: 16 << 10})
			until(t, 20*time.Second, "facts are on their way", func() bool { return r.acked("trips") > 100_000 })
			free := fill(t, disk)
			defer free()
			if !poll(20*time.Second, func() bool { return b.said(id, heartbeat.DiskFull) > 3 }) {
				t.Errorf("W5: %s does not say that its disk is full", id)
			}
			if id == "input-1" {
				held := c.heldBack(r)
				if poll(settled, func() bool { return r.acked("trips") > held }) {
					t.Errorf("W5: a node with a full disk takes input")
				}
			}
			free()
			d.check(t, r.answer())
			b.await(10*time.Second, "running", func(h beat) bool { return h.State == heartbeat.Running })
			c.noUnexpectedExits()
		})
	}
}

// tinyDisk is a file system of 12 MiB. Mounting needs root, which the machines have that run these tests; there is nothing else
// that is full for one process, and only then.
func tinyDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=12m"); err != nil {
		t.Fatalf("mount a small tmpfs: %v; run this test as root (in a container: with CAP_SYS_ADMIN)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// moved makes a node's data directory a link to a place on another disk.
func moved(t *testing.T, dataDir, disk string) {
	t.Helper()
	to := filepath.Join(disk, "data")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, dataDir); err != nil {
		t.Fatal(err)
	}
}

// fill takes all the room there is, and what the node frees later, until the returned function gives everything back.
func fill(t *testing.T, disk string) (free func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(disk, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for block := make([]byte, 4<<10); !closed(stop); {
			if _, err := f.Write(block); err != nil {
				time.Sleep(time.Millisecond)
			}
		}
		_ = f.Close() // it is to be full, not to be kept
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-done
		if err := os.Remove(f.Name()); err != nil {
			t.Error(err)
		}
	})
}
