package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// fetched is a temporary file without a name, so it disappears when this process ends, for whatever reason.
type fetched struct {
	*os.File
	size int64
}

func (s *fetched) Size() int64      { return s.size }
func (s *fetched) Unchanged() error { return nil }

// errNoRoom is wrapped by the error for a source that would fill the disk.
var errNoRoom = errors.New("it may take half of what was free there, and has more; set TMPDIR to a directory with more room")

// fetchStep is after how many bytes the room on the disk is looked at.
const fetchStep = 16 << 20

// fetch copies all of r to a temporary file. It leaves half of the room that is free in the beginning, because r may never end, and a full
// disk hurts others. What is free is measured again and again: then several copies at once leave that half, too.
func fetch(r io.Reader, count *atomic.Int64, free func(dir string) (int64, error)) (_ *fetched, err error) {
	dir := os.TempDir()
	f, err := os.CreateTemp(dir, "posta-")
	if err != nil {
		return nil, fmt.Errorf("bring it to the disk before it is read, in $TMPDIR: %w", err)
	}
	s := &fetched{File: f}
	if err = os.Remove(f.Name()); err == nil {
		err = s.fill(io.TeeReader(r, counting{count}), dir, free)
	}
	if err != nil {
		return nil, fmt.Errorf("bring it to the disk, into %s: %w", dir, errors.Join(err, f.Close()))
	}
	return s, nil
}

func (s *fetched) fill(r io.Reader, dir string, free func(dir string) (int64, error)) error {
	left, err := free(dir)
	if err != nil {
		return err
	}
	for keep := left / 2; left > keep; {
		n, err := io.CopyN(s.File, r, min(fetchStep, left-keep+1))
		s.size += n
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if left, err = free(dir); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %d bytes were copied", errNoRoom, s.size)
}

// freeIn returns how many bytes this user may still write in a directory.
func freeIn(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// counting adds up what is written to it.
type counting struct{ n *atomic.Int64 }

func (c counting) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}
