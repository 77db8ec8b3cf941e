package shell

import (
	"log/slog"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/wal"
)

const (
	idleBefore = 300 * time.Millisecond // before a snapshot replaces the whole log
	cutEvery   = time.Second            // the shortest pause between two cuts of the log
	retryFull  = 200 * time.Millisecond // the pause before a full disk is tried again
)

// nextJob returns the committer's next job; nil if it has one, or if there is nothing to do.
func (s *Shell) nextJob(now time.Time) *Job {
	switch {
	case s.busy:
		return nil
	case s.failed != nil && s.draining:
		return nil
	case s.failed != nil:
		return s.repeated(now)
	case s.draining:
		if c := s.core.Seal(); c != nil {
			s.flush.sealed = now
			return &Job{Commit: c, DropHeritage: s.heir, Drop: s.core.Dropped()}
		}
		return nil
	}
	j := Job{Spend: s.maySpend()}
	snapshot := s.snapshotDue(now)
	if snapshot || !s.waits(now) { // a snapshot must contain only what is stored
		seal := s.core.Seal
		if snapshot {
			seal = s.core.SealForSnapshot
		}
		if j.Commit = seal(); j.Commit != nil {
			s.flush.closed(now)
			j.DropHeritage, j.Drop = s.heir, s.core.Dropped()
		}
	}
	if !now.Before(s.retryAt) {
		j.Files = s.core.Unsaved()
		if !s.swept {
			j.Sweep, j.Keep = true, s.core.Files()
		}
	}
	if snapshot {
		j.Snapshot = s.core.Snapshot()
	}
	s.tidy(now, &j)
	if j.Commit == nil && j.Snapshot == nil && j.Cut == 0 && len(j.Files) == 0 && !j.Sweep {
		if now.Before(s.retryAt) {
			return nil
		}
		if s.short {
			return &Job{Refill: true}
		}
		if s.full != nil {
			// Nothing waits for room any more. If the node still reported a full disk, inputs would never open a session again.
			s.full, s.unsaved = nil, false
			s.core.DiskFull(false)
		}
		return nil
	}
	return &j
}

// repeated returns the job that found the disk full, when it is to be tried again. Meanwhile receivers have acknowledged frames, and the
// log may be cut further: which makes room if the log itself has filled the disk.
func (s *Shell) repeated(now time.Time) *Job {
	if now.Before(s.retryAt) {
		s.wakeAt(s.retryAt)
		return nil
	}
	j := s.failed
	s.failed = nil
	j.Spend = s.maySpend()
	s.cutTo(now, j)
	return j
}

// maySpend reports whether a job may use the log's reserve: the disk is full, and a session ends or none is left, or a receiver's new log
// is to be stored. Such jobs let the log be cut, and they need a bounded space, because inputs begin no session while a disk is full. All
// other jobs wait for room.
func (s *Shell) maySpend() bool {
	return s.full != nil && (s.core.LetsCut() || s.core.Sessions() == 0)
}

// waits reports whether the commit that is being built waits for more input, and sets the alarm for its end.
func (s *Shell) waits(now time.Time) bool {
	until := s.flush.due(s.core.Urgency())
	if !now.Before(until) {
		return false
	}
	s.wakeAt(until)
	return true
}

// snapshotDue reports whether the log since the last snapshot has outgrown both the limit and the snapshot itself (N3).
func (s *Shell) snapshotDue(now time.Time) bool {
	return s.sinceCut > max(s.cfg.Snapshot, s.snapSize) && !now.Before(s.retryAt)
}

// tidy cuts the log to what recovery needs: the snapshot, and frames that are not acknowledged. If the node has been idle for a moment and
// no session is open, a snapshot replaces nearly the whole log. That is not done with open sessions: their state would be written again in
// each pause of a client, and by each joiner that has reference data and gets no facts. Their log is not longer than limits.snapshot
// anyway.
func (s *Shell) tidy(now time.Time, j *Job) {
	if j.Commit != nil || s.core.Sessions() > 0 || !s.core.Idle() {
		s.idleAt = time.Time{}
	} else if s.idleAt.IsZero() {
		s.idleAt = now
	}
	idle := !s.idleAt.IsZero() && now.Sub(s.idleAt) >= idleBefore
	if idle && s.sinceCut > 0 && s.last > s.snapAt && !now.Before(s.retryAt) {
		j.Snapshot, j.CutAll = s.core.Snapshot(), true
		return
	}
	if now.Sub(s.lastCut) >= cutEvery || j.Snapshot != nil {
		s.cutTo(now, j)
	}
}

// cutTo has a job cut the log to the last snapshot that is saved, and to the oldest frame that is not acknowledged everywhere. It waits
// while only memory says which log has acknowledged frames (core.Commit.NewLog).
func (s *Shell) cutTo(now time.Time, j *Job) {
	if s.snapAt == 0 || s.core.NewLog() {
		return
	}
	s.lastCut = now
	j.Cut = s.snapAt
	if oldest, ok := s.core.Oldest(); ok && wal.Index(oldest) <= j.Cut {
		j.Cut = wal.Index(oldest) - 1
	}
}

// Answer takes the result of the job that is under way. The caller then calls Step.
func (s *Shell) Answer(now time.Time, a Answer) {
	s.busy = false
	s.last, s.logBytes = a.At, a.Size
	s.retired, s.short = a.Retired, a.Short
	if a.Stored {
		s.cfg.Commits.Observe(now.Sub(s.flush.sealed))
		s.cfg.Core.Trace.Synced(a.Synced)
		s.stored(&a)
	}
	if a.Kept {
		s.core.Saved(a.Files)
	}
	s.swept = s.swept || a.Swept
	if a.Saved {
		s.snapAt, s.snapSize, s.sinceCut, s.unsaved = a.At, int64(len(a.Snapshot)), 0, false
	}
	switch {
	case a.Err == nil:
		if s.full != nil && !s.unsaved && !s.short {
			s.full = nil
			s.note(slog.LevelInfo, "there is room for the log again")
		}
	case isFull(a.Err):
		s.foundFull(now, &a)
	default:
		s.failure = s.final(a.Err)
	}
	s.core.DiskFull(s.full != nil)
}

func (s *Shell) stored(a *Answer) {
	s.core.Stored(a.Commit, link.LogIndex(a.At))
	s.sinceCut += int64(a.Commit.Bytes)
	s.heir = s.heir && !a.DropHeritage
	if s.core.Counters.Commits == 1 {
		s.beatDue = time.Time{} // this incarnation works: medics that wait for it hear that at once, not with the next heartbeat
	}
}

// foundFull keeps the part of the job that is not stored, to try it again. A snapshot and a cut are planned again then, because these would
// be outdated.
func (s *Shell) foundFull(now time.Time, a *Answer) {
	if s.full == nil {
		s.note(slog.LevelWarn, "there is no room for the log: nothing is taken in until there is", "dir", s.cfg.Dir, "err", a.Err)
	}
	s.full, s.retryAt = a.Err, now.Add(retryFull)
	s.unsaved = s.unsaved || a.Snapshot != nil && !a.Saved
	if a.Commit != nil && !a.Stored {
		s.failed = &Job{Commit: a.Commit, DropHeritage: a.DropHeritage, Drop: a.Drop}
	} else if !a.Dropped && (a.DropHeritage || len(a.Drop) > 0) {
		s.failed = &Job{DropHeritage: a.DropHeritage, Drop: a.Drop}
	}
}
