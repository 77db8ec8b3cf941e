package shell

import (
	"errors"
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/wal"
)

// Log is the log on which jobs are carried out: *wal.Log, or the disk of a simulator. Its errors are those of package wal.
type Log interface {
	Append(records ...wal.Record) (wal.Index, error)
	SaveSnapshot(at wal.Index, parts ...[]byte) error
	Cut(upTo wal.Index) error
	Last() wal.Index
	Size() int64

	// Files that snapshots refer to.
	SaveFile(name string, parts ...[]byte) error
	DropFiles(names ...string) error
	SweepFiles(keep []string) error

	// The reserve, for records that make room on a full disk (W5).
	Spend(bytes int64) (given bool, err error)
	Refill() error
	Short() bool

	// The heritage, which one log leaves to the next (R14).
	Retire(heritage []byte) error
	DropHeritage() error
}

// Job is what the committer does to the log, in the order of the fields. A job that retires the log does nothing else.
type Job struct {
	Commit       *core.Commit // to be stored; nil if there is none
	DropHeritage bool         // the heritage of the log before is in this log, once the commit is stored
	Drop         []string     // files that are not needed, once the commit is stored
	Sweep        bool         // remove all files except those of Keep
	Keep         []string
	Files        []role.File // to be saved
	Snapshot     []byte      // of the state including Commit; nil if none is due
	Cut          wal.Index   // records up to here may be cut; 0 if nothing is to be cut
	CutAll       bool        // everything up to the snapshot just saved may be cut
	Refill       bool        // restore the reserve to its full size
	Spend        bool        // what finds no room may use the reserve

	Retire   bool   // put the log aside (R14)
	Heritage []byte // the heritage of the retired log; nil if it leaves none
}

// Answer is the result of a job.
type Answer struct {
	Job
	At      wal.Index     // the index of the commit, or of the last record
	Stored  bool          // the commit is durable
	Dropped bool          // the heritage and the files that are not needed are removed
	Kept    bool          // the files are saved
	Swept   bool          // files that were not needed are removed
	Saved   bool          // the snapshot is saved
	Retired bool          // the log is put aside
	Size    int64         // of the log
	Synced  time.Duration // by its fsyncs; for Config.Core.Trace
	Short   bool          // some of its reserve is spent
	Err     error         // the first error. wal.ErrDiskFull: the rest of the job may be tried again. Any other error is final (W4).
}

// recCommit is the type of the only records that a node writes.
const recCommit = 1

// CarryOut does a job, up to the first error. On a full disk it still cuts the log, because that makes room (W5).
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
	if a.Commit != nil && a.Commit.NewLog && !a.Stored {
		upTo = 0
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
	}
	if a.DropHeritage {
		if err := log.DropHeritage(); err != nil {
			return err
		}
	}
	if err := a.files(log); err != nil {
		return err
	}
	if a.Snapshot != nil {
		if err := a.withRoom(log, len(a.Snapshot), func() error { return log.SaveSnapshot(a.At, a.Snapshot) }); err != nil {
			return err
		}
		a.Saved = true
	}
	return nil
}

// files removes and saves files. It removes first, because that makes room.
func (a *Answer) files(log Log) error {
	if err := log.DropFiles(a.Drop...); err != nil {
		return err
	}
	a.Dropped = true
	if a.Sweep {
		if err := log.SweepFiles(a.Keep); err != nil {
			return err
		}
		a.Swept = true
	}
	for _, f := range a.Files {
		if err := log.SaveFile(f.Name, f.Parts...); err != nil {
			return err
		}
	}
	a.Kept = true
	return nil
}

// withRoom does a step that needs this many bytes on the disk. If there is no room, it does the step again with the space of the reserve,
// if the job may use it.
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

// stepRoom is how many bytes a step needs in addition to its data: framing, a new segment, blocks of directories.
const stepRoom = 64 << 10

// Reserve is how many bytes a node reserves on its disk. The end of a session that is cancelled while the disk is full is in the commit
// that is being built. The commit before it, which found the disk full, has to be stored first. Each has limits.commit and the rest of its
// last frame. A snapshot, its twin and a new segment follow, which are small when no session is left.
func Reserve(commit, chunk int64) int64 { return 2*(commit+chunk) + 1<<20 }

// isFull reports whether an error of the log disappears once there is room (W5).
func isFull(err error) bool { return errors.Is(err, wal.ErrDiskFull) }
