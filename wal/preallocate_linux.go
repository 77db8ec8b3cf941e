package wal

import (
	"os"

	"golang.org/x/sys/unix"
)

// preallocate allocates a file's room without writing it. It returns false if that is not possible here or there is no room; a
// write then returns the reason.
func preallocate(f File, at, size int64) (done bool) {
	file, ok := f.(*os.File)
	if !ok {
		return false // a test's
	}
	c, err := file.SyscallConn()
	if err != nil {
		return false
	}
	err = c.Control(func(fd uintptr) { done = unix.Fallocate(int(fd), 0, at, size) == nil })
	return done && err == nil
}

// diskSize returns how many bytes the file system of a directory has; false if that is not known.
func diskSize(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Blocks) * s.Bsize, true
}
