package process

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"posta.dev/posta/medic"
	"posta.dev/posta/test/await"
)

// A node that died while the disk is full is started again: no step of its start needs room, not even after its pid
// file was removed with the dead process.
func TestW5_AStartNeedsNoRoomOnTheDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mount a small tmpfs: %v; run this test as root", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	r := children(t, dir, "polite")
	start(t, r, "a-1")
	fill(t, filepath.Join(dir, "filler"))
	for range 3 {
		if err := r.Kill(await.Soon(t), "a-1"); err != nil {
			t.Fatal(err)
		}
		fill(t, filepath.Join(dir, "more")) // also the room that its end has freed
		pid := start(t, r, "a-1")
		other := children(t, dir, "polite") // another medic finds it by its files
		if found, err := other.Pid(medic.NodeID("a-1")); err != nil || found != pid {
			t.Fatalf("another restarter finds process %d, %v; it is %d", found, err, pid)
		}
	}
}

// fill uses up all room on the disk.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for size := 64 << 10; size > 0; size /= 2 {
		for err = error(nil); err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}
