package medics

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// disk is a small file system of its own for one directory. It can be filled to the last byte, and freed.
type disk struct {
	root string
	mu   sync.Mutex
}

// newDisk mounts a disk at dir. The file that fills it lies beside the contents of dir.
func newDisk(t *testing.T, root, dir, size string) *disk {
	t.Helper()
	mount(t, "tmpfs", root, "tmpfs", 0, "size="+size)
	inside := filepath.Join(root, "data")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	mount(t, inside, dir, "", syscall.MS_BIND, "")
	return &disk{root: root}
}

func mount(t *testing.T, source, dir, kind string, flags uintptr, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(source, dir, kind, flags, options); err != nil {
		t.Fatalf("mount a small file system: %v; run this test as root (in a container: with CAP_SYS_ADMIN)", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

func (d *disk) filler() string { return filepath.Join(d.root, "filler") }

// fill uses up the room that is left.
func (d *disk) fill() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = error(nil); err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return err
		}
	}
	return nil
}

// free makes that room available again.
func (d *disk) free() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return os.Remove(d.filler())
}
