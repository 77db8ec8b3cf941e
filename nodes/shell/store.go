package shell

import (
	"log/slog"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/wal"
)

const (
	idleBefore = 300 * time.Millisecond // a snapshot takes in everything
	cutEvery   = time.Second            // at most so often the log is cut
	retryFull  = 200 * time.Millisecond // what needs room on a full disk is tried again
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
			return &Job{Commit: c, DropHeritage: s.heir}
		}
		return nil
	}
	j := Job{Spend: s.maySpend()}
	snapshot := s.snapshotDue(now)
	if snapshot || !s.waits(now) { // a snapshot is of what is stored, and of nothing else
		if j.Commit = s.core.Seal(); j.Commit != nil {
			s.flush.sealed = now
			j.DropHeritage = s.heir
		}
	}
	if snapshot {
		j.Snapshot = s.core.Snapshot()
	}
	s.tidy(now, &j)
	if j.Commit == nil && j.Snapshot == nil && j.Cut == 0 {
		if now.Before(s.retryAt) {
			return nil
		}
		if s.short {
			return &Job{Refill: true}
		}
		if s.full != nil {
			// Nothing waits for room any more. To go on saying that the disk is full would keep inputs from opening sessions for good.
			s.full, s.unsaved = nil, false
			s.core.DiskFull(false)
		}
		return nil
	}
	return &j
}

// repeated returns the job that found the disk full, when it is to be tried again. Meanwhile receivers have acknowledged frames, and the log
// may be cut further: that is what makes room on a disk that is full of this log.
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

// maySpend reports whether what is to be stored may have the log's reserve: where the disk is full, and a session leaves or none is left. What it
// needs is bounded, because inputs begin no session while a disk is full, and it lets the log be cut. All else waits for room.
func (s *Shell) maySpend() bool {
	return s.full != nil && (s.core.Leaving() || s.core.Sessions() == 0)
}

// waits reports whether the commit that is being built waits for more, and sees to it that it does not wait for too long.
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

// tidy asks for the log to be cut to what recovery needs: the snapshot, and the frames that are not acknowledged. When nothing has been
// under way for a moment and no session is open, a snapshot takes in everything, and the log returns to nearly nothing. With open sessions
// that is not done: their state would be written again in each pause of a client, and by each joiner that has reference data and gets no
// facts. Their log is no longer than limits.snapshot anyway.
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
	if j.Commit == nil && s.core.Pending() {
		return // it may tell which log has acknowledged what would be cut
	}
	if now.Sub(s.lastCut) >= cutEvery || j.Snapshot != nil {
		s.cutTo(now, j)
	}
}

// cutTo has a job cut the log to the last snapshot that is saved, and to the oldest frame that is not acknowledged everywhere.
func (s *Shell) cutTo(now time.Time, j *Job) {
	if s.snapAt == 0 {
		return
	}
	s.lastCut = now
	j.Cut = s.snapAt
	if oldest, ok := s.core.Oldest(); ok && wal.Index(oldest) <= j.Cut {
		j.Cut = wal.Index(oldest) - 1
	}
}

// Answer takes what became of the job that is under way. After it, Step.
func (s *Shell) Answer(now time.Time, a Answer) {
	s.busy = false
	s.last, s.logBytes = a.At, a.Size
	s.retired, s.short = a.Retired, a.Short
	if a.Stored {
		s.stored(&a)
	}
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
		s.beatAt = time.Time{} // this incarnation works: medics that wait for it hear so now, not with the next heartbeat
	}
}

// foundFull has what is not stored yet be tried again. A snapshot is made anew then, and a cut is planned anew: both would be outdated.
func (s *Shell) foundFull(now time.Time, a *Answer) {
	if s.full == nil {
		s.note(slog.LevelWarn, "there is no room for the log: nothing is taken in until there is", "dir", s.cfg.Dir, "err", a.Err)
	}
	s.full, s.retryAt = a.Err, now.Add(retryFull)
	s.unsaved = s.unsaved || a.Snapshot != nil && !a.Saved
	if a.Commit != nil && !a.Stored {
		s.failed = &Job{Commit: a.Commit, DropHeritage: a.DropHeritage}
	}
}
