package bench

import (
	"os"

	"golang.org/x/sys/unix"
)

// diskHints says that this system has the calls below.
const diskHints = true

// reserve allocates blocks for the file, but does not change its length.
func reserve(f *os.File, size int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
}

// syncData is an fsync without the file's times. For a file that does not grow, it needs no journal.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// startWriting asks the system to begin to write the file's cached pages. It is a hint.
func startWriting(f *os.File) { _ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) }
