package wal

import (
	"io/fs"
	"syscall"
)

// changeTime returns the time of a file's last change (ctime), in nanoseconds. Unlike the modification time, programs cannot
// set it: a copy that keeps the times of its source has another change time.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
