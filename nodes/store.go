package nodes

import (
	"fmt"
	"time"

	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/wal"
)

const (
	idleBefore = 300 * time.Millisecond // a snapshot takes in everything
	cutEvery   = time.Second            // at most so often the log is cut
)

// store gives the committer its next job, if it has none.
func (x *node) store(now time.Time) {
	if x.busy {
		return
	}
	if x.failed != nil {
		if now.Before(x.retryAt) {
			return
		}
		j := *x.failed
		x.failed = nil
		x.submit(j)
		return
	}
	var j job
	snapshot := x.snapshotDue()
	if snapshot || !x.waits(now) { // a snapshot is of what is stored, and of nothing else
		if j.commit = x.core.Seal(); j.commit != nil {
			x.flush.sealed = now
		}
	}
	if snapshot {
		j.snapshot = x.core.Snapshot()
	}
	x.planCut(now, &j)
	if j.commit != nil || j.snapshot != nil || j.cut > 0 {
		x.submit(j)
	}
}

// waits reports whether the commit that is being built waits for more, and sees to it that it does not wait for too long.
func (x *node) waits(now time.Time) bool {
	until := x.flush.due(x.core.Urgency())
	if !now.Before(until) {
		return false
	}
	x.alarm.set(now, until)
	return true
}

// submit gives the committer its next job. It has none, so this does not block.
func (x *node) submit(j job) {
	x.busy = true
	x.jobs <- j
}

// snapshotDue reports whether the log since the last snapshot has outgrown both the limit and the snapshot itself (N3).
func (x *node) snapshotDue() bool {
	return x.sinceCut > max(int64(x.cfg.Topology.Limits.Snapshot), x.snapSize)
}

// planCut asks for the log to be cut to what recovery needs: the snapshot, and the frames that are not acknowledged. When nothing has been
// under way for a moment and no session is open, a snapshot takes in everything, and the log returns to nearly nothing. With open sessions
// that is not done: their state would be written again in each pause of a client, and by each joiner that has reference data and gets no
// facts. Their log is no longer than limits.snapshot anyway.
func (x *node) planCut(now time.Time, j *job) {
	if j.commit != nil || x.core.Sessions() > 0 || !x.core.Idle() {
		x.idleAt = time.Time{}
	} else if x.idleAt.IsZero() {
		x.idleAt = now
	}
	idle := !x.idleAt.IsZero() && now.Sub(x.idleAt) >= idleBefore
	if idle && x.sinceCut > 0 && x.log.Last() > x.snapAt {
		j.snapshot, j.cutAll = x.core.Snapshot(), true
		return
	}
	if now.Sub(x.lastCut) < cutEvery && j.snapshot == nil || x.snapAt == 0 {
		return
	}
	x.lastCut = now
	j.cut = x.snapAt
	if oldest, ok := x.core.Oldest(); ok && wal.Index(oldest) <= j.cut {
		j.cut = wal.Index(oldest) - 1
	}
}

// jobDone takes the committer's answer.
func (x *node) jobDone(d done) error {
	x.busy = false
	x.logBytes = d.size
	if d.stored {
		x.core.Stored(d.commit, logIndex(d.at))
		x.sinceCut += int64(d.commit.Bytes)
		if x.core.Counters.Commits == 1 {
			x.beatAt = time.Time{} // this incarnation works: medics that wait for it hear so now, not with the next heartbeat
		}
		d.commit = nil
		if err := x.dropHeritage(); err != nil {
			return err
		}
	}
	if d.saved {
		x.snapAt, x.snapSize, x.sinceCut = d.at, int64(len(d.snapshot)), 0
		d.snapshot = nil
	}
	switch {
	case d.err == nil:
		if x.state == heartbeat.DiskFull {
			x.state = heartbeat.Running
			x.cfg.Log.Info("there is room on the disk again")
		}
		return nil
	case full(d.err):
		if x.state != heartbeat.DiskFull {
			x.cfg.Log.Warn("the disk is full: nothing is taken in until there is room", "dir", x.node.DataDir, "err", d.err)
		}
		x.state = heartbeat.DiskFull
		x.failed, x.retryAt = &job{commit: d.commit}, time.Now().Add(retryFull)
		if d.commit == nil {
			x.failed = nil // a snapshot or a cut is asked for again when it is due
			x.lastCut = time.Now()
		}
		return nil
	}
	return fmt.Errorf("node %s: W4: %w: it stops, and its next start recovers from what is on disk", x.node.ID, d.err)
}
