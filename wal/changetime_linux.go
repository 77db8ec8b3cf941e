package wal

import (
	"io/fs"
	"syscall"
)

// changeTime is when a file was last changed, in nanoseconds. Unlike its time of modification nobody can set it: a copy that keeps the times of its
// source has another one.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
