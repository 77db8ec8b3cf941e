package inprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"posta.dev/posta/wal"
)

// ErrNoRoom is wrapped by the reason why a context of During has ended if the disk of a node is full.
var ErrNoRoom = errors.New("no room")

// fullFor is how long the disk may be full before questions fail. Nodes wait for room as long as it takes (W5), but nobody else watches
// these ones. They still wait this long, for room that another program makes.
const fullFor = 3 * time.Second

// watchedDisk is the file system of a node, which remembers since when it has been full.
type watchedDisk struct {
	wal.FS
	since atomic.Int64 // when a write failed for the first time in a row, in nanoseconds since 1970; 0: the last one did not
}

// full reports whether the disk has had no room for some seconds.
func (d *watchedDisk) full(now time.Time) bool {
	since := d.since.Load()
	return since != 0 && now.Sub(time.Unix(0, since)) >= fullFor
}

// saw notes how a write has ended.
func (d *watchedDisk) saw(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		d.since.CompareAndSwap(0, time.Now().UnixNano())
	} else if err == nil && d.since.Load() != 0 {
		d.since.Store(0)
	}
	return err
}

func (d *watchedDisk) Mkdir(name string, perm os.FileMode) error {
	return d.saw(d.FS.Mkdir(name, perm))
}

func (d *watchedDisk) OpenFile(name string, flag int, perm os.FileMode) (wal.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, d.saw(err) // that a file can be opened does not show that there is room
	}
	return watchedFile{f, d}, nil
}

func (d *watchedDisk) ReadFileAt(name string, p []byte, off int64) error {
	return wal.ReadFileAt(d.FS, name, p, off)
}

func (d *watchedDisk) Lock(dir string) (io.Closer, error) { return wal.Lock(d.FS, dir) }

type watchedFile struct {
	wal.File
	disk *watchedDisk
}

func (f watchedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, f.disk.saw(err)
}

func (f watchedFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	return n, f.disk.saw(err)
}

// Place returns the directory in which the nodes write what has no room in memory.
func (h *Nodes) Place() string {
	if h.dir == nil {
		return filepath.Clean(os.TempDir())
	}
	return filepath.Clean(h.dir.Dir)
}

// whileRoom returns a context that ends with ctx, or with ErrNoRoom once the disk of a node has been full for some seconds. done has to be
// called when it is used no longer.
func (h *Nodes) whileRoom(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		look := time.NewTicker(fullFor / 6)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-look.C:
				for _, d := range h.disks {
					if d.full(now) {
						cancel(fmt.Errorf("%w on the disk of %s, where nodes within this process keep what the question needs on its way: make room "+
							"there, or name a directory with more room in TMPDIR", ErrNoRoom, h.Place()))
					}
				}
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}
