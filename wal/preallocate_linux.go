package wal

import (
	"os"

	"golang.org/x/sys/unix"
)

// preallocate gives a file its room without writing it; false if that is not possible here, or if there is no room: then writing says why.
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

// diskSize is how many bytes the file system of a directory has; false if that is not known.
func diskSize(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Blocks) * s.Bsize, true
}
