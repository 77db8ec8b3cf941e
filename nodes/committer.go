package nodes

import (
	"errors"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/wal"
)

// job is what the loop asks of the committer: store a commit, then perhaps a snapshot, then perhaps cut the log.
type job struct {
	commit   *core.Commit
	snapshot []byte    // of the state with commit; nil if none is due
	cut      wal.Index // records up to here may go; 0 if nothing is to be cut. With a snapshot, at most up to it.
	cutAll   bool      // everything up to the snapshot just saved may go
}

// done is the committer's answer.
type done struct {
	job
	at     wal.Index // where the commit stands
	stored bool      // the commit is durable
	saved  bool      // the snapshot is
	size   int64     // of the log
	err    error     // not stored for now (disk full), or final
}

// recCommit is the type of the only records a node writes.
const recCommit = 1

// committer stores one job after the other until jobs is closed.
func committer(log *wal.Log, jobs <-chan job, answers chan<- done) {
	defer close(answers)
	for j := range jobs {
		answers <- carryOut(log, j)
	}
}

func carryOut(log *wal.Log, j job) done {
	d := done{job: j, at: log.Last()}
	if j.commit != nil {
		d.at, d.err = log.Append(wal.Record{Type: recCommit, Parts: j.commit.Parts})
		if d.err != nil {
			d.size = log.Size()
			return d
		}
		d.stored = true
	}
	if j.snapshot != nil {
		d.err = log.SaveSnapshot(d.at, j.snapshot)
		d.saved = d.err == nil
	}
	if d.err == nil && (j.cut > 0 || j.cutAll && d.saved) {
		if j.cutAll {
			j.cut = d.at
		}
		d.err = log.Cut(j.cut)
	}
	d.size = log.Size()
	return d
}

// full reports whether an error of the log goes away by itself when there is room (W5).
func full(err error) bool { return errors.Is(err, wal.ErrDiskFull) }

// retryFull is how long a node with a full disk waits before it tries again.
const retryFull = 200 * time.Millisecond

// logIndex is a record's index as package link's type.
func logIndex(i wal.Index) link.LogIndex { return link.LogIndex(i) }
