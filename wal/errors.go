package wal

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
)

var (
	// ErrLocked is returned by Open and Repair when another process (or another Log of this one) has the
	// directory. The message names the holder's pid when the lock file tells it (N4).
	ErrLocked = errors.New("the log directory is locked")

	// ErrDiskFull is returned by Open, Append, Cut and SaveSnapshot when there is no room (W5). Nothing of the call
	// remains; the same call may be made again, and succeeds as soon as there is room.
	ErrDiskFull = errors.New("no space left for the log")

	// ErrNoDescriptor is wrapped together with ErrDiskFull if a file descriptor is missing, not room.
	ErrNoDescriptor = errors.New("no file descriptor is left")

	// errFailed is returned by every call that writes after a failed fsync, or after a write that failed for another reason than
	// a full disk (W4). It is final for this Log: close it, and let Open decide what is on the disk.
	errFailed = errors.New("the log failed and must be opened again")

	// errRetired is returned by every call that writes after Retire.
	errRetired = errors.New("the log is retired")

	// errClosed is returned by every call after Close.
	errClosed = errors.New("the log is closed")

	// ErrGone is returned by Replay when the first record asked for has been cut, and by a Replay that a Cut overtook.
	ErrGone = errors.New("the records have been cut")

	// errEmptyRecord is returned by Append for a record without a byte (W1). Nothing is appended.
	errEmptyRecord = errors.New("an empty record is invalid")

	// errTooLarge is returned by Append for a record above MaxRecord. Nothing is appended.
	errTooLarge = errors.New("the record is too large")

	// ErrSnapshotIndex is returned by SaveSnapshot for an index above Last or below the newest snapshot.
	ErrSnapshotIndex = errors.New("the snapshot's index is out of range")
)

// CorruptionError says where a log is damaged beyond what a crash explains. Open, Replay, Dump and LoadSnapshot
// return it; Verify lists it and Repair starts from it.
type CorruptionError struct {
	Dir    string // the log's directory
	File   string // the damaged file, relative to Dir; of a missing one, where it should be
	Offset int64  // byte in File where the damage begins
	Index  Index  // record that should be there; 0 if the damage is not in a record
	Reason string // what was found, for people
}

func (e *CorruptionError) Error() string {
	record := ""
	if e.Index != 0 {
		record = fmt.Sprintf(" (record %d)", e.Index)
	}
	return fmt.Sprintf(
		"wal: %s is corrupt at byte %d%s: %s; see `posta log verify %s`, and `posta log repair %s` to continue without what is lost",
		filepath.Join(e.Dir, e.File), e.Offset, record, e.Reason, e.Dir, e.Dir)
}

// noSnapshot returns the damage of a log whose first records were cut because of a snapshot that no longer exists.
func noSnapshot(dir string, first Index) *CorruptionError {
	reason := fmt.Sprintf("the log begins with record %d, and no good snapshot leads up to it", first)
	return &CorruptionError{Dir: dir, File: snapshotsDir, Index: first, Reason: reason}
}

// errSync marks what a failed fsync returned, errNotUndone a failed undo. They decide between "try again" and "final":
// an fsync that reports ENOSPC is final nevertheless, because the kernel may have marked the pages clean (W4).
var (
	errSync      = errors.New("fsync failed")
	errNotUndone = errors.New("could not undo")
)

func isNoSpace(err error) bool {
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || noDescriptor(err)
	return full && !errors.Is(err, errSync) && !errors.Is(err, errNotUndone)
}

// noDescriptor reports whether a file could not be opened because the process, or the system, has too many open files. Like a full disk,
// this is temporary: connections end.
func noDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// noRoom turns an error for which isNoSpace is true into ErrDiskFull, and adds what to do.
func noRoom(err error) error {
	if noDescriptor(err) {
		return fmt.Errorf("%w: %w; raise the limit of open files (ulimit -n): %w", ErrDiskFull, ErrNoDescriptor, err)
	}
	return fmt.Errorf("%w; make room: %w", ErrDiskFull, err)
}
