package e2e

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// TestW5_DiskFull gives one node a disk of its own, and takes its free space in the middle of a run. The node reports that and takes
// nothing. When there is room again it continues by itself, and the answer is right.
func TestW5_DiskFull(t *testing.T) {
	d := generated(t, 200_000)
	for _, id := range []topology.NodeID{"input-1", "joiner-1", "aggregator-1"} {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			disk := ownDisk(t, "12m")
			v := tight()
			v.Dir = t.TempDir()
			moved(t, filepath.Join(v.Dir, string(id)), disk)
			c := start(t, v)
			b := c.listen()
			r, free := c.runOutOfRoom(deadline(t), b, d, id, disk)
			defer free()
			if id == "input-1" {
				c.heldBack(r, 2*settled) // a node with a full disk takes no input, so the run cannot end
			}
			free()
			d.check(t, r.answer())
			b.await("running", func(h beat) bool { return h.State == heartbeat.Running })
			c.noUnexpectedExits()
		})
	}
}

// TestW5_ACancelOnAFullDisk fills one node's disk in the middle of a run, for good: whatever is freed is taken again at once. Another
// client cancels the session. It leaves every node, and the full log is cut. The disk is large enough for a reserve.
func TestW5_ACancelOnAFullDisk(t *testing.T) {
	d := generated(t, 200_000)
	for _, id := range []topology.NodeID{"input-1", "joiner-1", "aggregator-1"} {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			disk := ownDisk(t, "160m")
			v := tight()
			v.Dir = t.TempDir()
			moved(t, filepath.Join(v.Dir, string(id)), disk)
			c := start(t, v)
			b := c.listen()
			ctx := deadline(t)
			r, free := c.runOutOfRoom(ctx, b, d, id, disk)
			defer free()
			c.cancels(ctx, r)
			b.await("no session left", func(h beat) bool { return h.Sessions == 0 })
			b.awaitOf([]topology.NodeID{id}, "its log cut", func(h beat) bool { return h.LogBytes < 4<<10 })
			free()
			b.await("running", func(h beat) bool { return h.State == heartbeat.Running })
			c.noUnexpectedExits()
		})
	}
}

// runOutOfRoom begins a run and fills one node's disk in the middle of it, until the node reports it. It returns that
// run, and a function that frees the room.
//
// A node whose log shrinks as fast as it grows may take each freed segment before the ballast does, and finish its run. The answer of that
// run must be right, and the next run is tried.
func (c *cluster) runOutOfRoom(ctx context.Context, b *beats, d *dataset, id topology.NodeID, disk string) (*run, func()) {
	c.t.Helper()
	for range 5 {
		r := c.begin(ctx, client.Config{Find: slowly(d.dir, 2<<20), Chunk: 16 << 10})
		until(c.t, "facts are on their way", func() bool { return r.acked("trips") > 100_000 })
		before := b.said(id, heartbeat.DiskFull)
		free := fill(c.t, disk)
		if await.Within(patience, func() bool { return r.ended() || b.said(id, heartbeat.DiskFull) > before+3 }) && !r.ended() {
			return r, free
		}
		free()
		d.check(c.t, r.answer())
	}
	c.t.Fatalf("W5: %s never says that its disk is full", id)
	return nil, nil
}

// ownDisk returns a small file system. Mounting it needs root, which CI has. Nothing else can be full for one process alone, and only for a
// while.
func ownDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mount a small tmpfs: %v; run this test as root (in a container: with CAP_SYS_ADMIN)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// moved replaces a node's data directory by a link to a directory on another disk.
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

// fill takes all free space, and the space that the node frees later, until the returned function releases everything.
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
				time.Sleep(50 * time.Microsecond) // short, or the node would take first what it frees
			}
		}
		_ = f.Close() // the content does not matter
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-done
		if err := os.Remove(f.Name()); err != nil {
			t.Error(err)
		}
	})
}
