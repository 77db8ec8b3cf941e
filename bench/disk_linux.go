package bench

import (
	"os"

	"golang.org/x/sys/unix"
)

// diskHints says that this system has the calls below.
const diskHints = true

// reserve allocates blocks for the file and leaves its length as it is.
func reserve(f *os.File, size int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
}

// syncData is an fsync without the times of the file: of a file that does not grow, it needs no journal.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// startWriting asks the system to begin to write what it has in memory of the file; it is a hint.
func startWriting(f *os.File) { _ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) }
