package shell

import (
	"errors"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/wal"
)

// Log is what a job is carried out on: *wal.Log, or the disk of a simulator. The errors are those of package wal.
type Log interface {
	Append(records ...wal.Record) (wal.Index, error)
	SaveSnapshot(at wal.Index, parts ...[]byte) error
	Cut(upTo wal.Index) error
	Last() wal.Index
	Size() int64

	// The reserve, for what makes room on a full disk (W5).
	Spend(bytes int64) (given bool, err error)
	Refill() error
	Short() bool

	// What one log leaves to the next (R14).
	Retire(heritage []byte) error
	DropHeritage() error
}

// Job is what the committer does to the log, in the order of the fields. A job that retires the log does nothing else.
type Job struct {
	Commit       *core.Commit // to be stored; nil if there is none
	DropHeritage bool         // with the commit stored, what the log before left is in this log
	Snapshot     []byte       // of the state with Commit; nil if none is due
	Cut          wal.Index    // records up to here may go; 0 if nothing is to be cut
	CutAll       bool         // everything up to the snapshot just saved may go
	Refill       bool         // the reserve is to be made whole
	Spend        bool         // what finds no room may have the reserve's

	Retire   bool   // put the log aside (R14)
	Heritage []byte // what it leaves; nil if it leaves nothing
}

// Answer is what became of a job.
type Answer struct {
	Job
	At      wal.Index // where the commit stands, or the last record
	Stored  bool      // the commit is durable
	Saved   bool      // the snapshot is
	Retired bool      // the log is put aside
	Size    int64     // of the log
	Short   bool      // some of its reserve is spent
	Err     error     // the first that happened. wal.ErrDiskFull: what is not done may be tried again. Any other is final (W4).
}

// recCommit is the type of the only records that a node writes.
const recCommit = 1

// CarryOut does a job, up to the first error. But a full disk does not keep the log from being cut: that makes room (W5).
func CarryOut(log Log, j Job) (a Answer) {
	a.Job, a.At = j, log.Last()
	defer func() { a.Size, a.Short = log.Size(), log.Short() }()
	if j.Retire {
		a.Err = log.Retire(j.Heritage)
		a.Retired = a.Err == nil
		return a
	}
	if a.Err = a.store(log); a.Err != nil && !isFull(a.Err) {
		return a
	}
	upTo := j.Cut
	if j.CutAll && a.Saved {
		upTo = a.At
	}
	if upTo > 0 {
		err := a.withRoom(log, len(a.Snapshot), func() error { return log.Cut(upTo) })
		if a.Err == nil || err != nil && !isFull(err) {
			a.Err = err
		}
	}
	if a.Refill && a.Err == nil {
		a.Err = log.Refill()
	}
	return a
}

// store does the part of a job that needs room.
func (a *Answer) store(log Log) error {
	if a.Commit != nil {
		err := a.withRoom(log, a.Commit.Bytes, func() (err error) {
			at, err := log.Append(wal.Record{Type: recCommit, Parts: a.Commit.Parts})
			if err == nil {
				a.At, a.Stored = at, true
			}
			return err
		})
		if err != nil {
			return err
		}
		if a.DropHeritage {
			if err := log.DropHeritage(); err != nil {
				return err
			}
		}
	}
	if a.Snapshot != nil {
		if err := a.withRoom(log, len(a.Snapshot), func() error { return log.SaveSnapshot(a.At, a.Snapshot) }); err != nil {
			return err
		}
		a.Saved = true
	}
	return nil
}

// withRoom does a step that needs so many bytes on the disk; if there is no room, once more in that of the reserve, if the job may have it.
func (a *Answer) withRoom(log Log, bytes int, do func() error) error {
	err := do()
	if !a.Spend || !isFull(err) || errors.Is(err, wal.ErrNoDescriptor) {
		return err
	}
	given, spendErr := log.Spend(int64(bytes) + stepRoom)
	if spendErr != nil {
		return spendErr
	}
	if !given {
		return err
	}
	return do()
}

// stepRoom is what a step needs beside its bytes: the framing, a new segment, the blocks of directories.
const stepRoom = 64 << 10

// Reserve is how many bytes a node reserves on its disk. A session that is cancelled while the disk is full leaves with the commit that is being
// built; the one before it, which found the disk full, has to be stored first. Each holds limits.commit and what came with the last frame. Then
// come a snapshot, its twin and a new segment, small ones when no session is left.
func Reserve(commit, chunk int64) int64 { return 2*(commit+chunk) + 1<<20 }

// isFull reports whether an error of the log goes away by itself when there is room (W5).
func isFull(err error) bool { return errors.Is(err, wal.ErrDiskFull) }
