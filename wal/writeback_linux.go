package wal

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback asks the system to begin to write what it has in memory of the file, without waiting for it: the disk works while the
// rest of a large append is still being copied, and the fsync that follows has less to wait for.
//
// It is a hint and promises nothing: only Sync makes data durable. If a write fails, that Sync still reports it, because this call neither
// waits for writes nor asks for their errors. Every append must assume anyway that pieces reach the disk early and in any order (doc.go).
func startWriteback(f File) {
	file, ok := f.(*os.File)
	if !ok {
		return // a test's
	}
	c, err := file.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _ = unix.SyncFileRange(int(fd), 0, 0, unix.SYNC_FILE_RANGE_WRITE) })
}
