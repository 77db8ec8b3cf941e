package wal

import (
	"fmt"
	"path/filepath"
)

// idleTail is a size in bytes. If the unneeded records and outdated snapshots of an idle log take as much, Cut makes a second
// snapshot and rotates the tail away to free them. Below it the fsyncs cost more than the bytes are worth.
const idleTail = 4 << 10

// Cut removes records up to upTo. It drops whole segments and rewrites nothing (W6), so some records up to upTo may stay.
// Freeing segments needs no room, so it works on a full disk.
//
// Cutting to Last says that the log is idle. A busy caller that needs no record at the moment should cut to Last-1, which
// avoids the work for an idle log described below.
//
// Cut keeps LoadSnapshot's promise that a bad snapshot falls back to the one before. While there are snapshots, it never cuts
// beyond the second newest. If upTo covers the whole log, and only that promise holds records back, Cut makes a second copy of
// the newest snapshot and drops the records: an idle log shrinks to nearly nothing. Without any snapshot only upTo counts.
//
// Errors: ErrDiskFull (from the copy or from the rotation; all that could be dropped was, call it again), errFailed.
func (l *Log) Cut(upTo Index) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usableLocked(); err != nil {
		return fmt.Errorf("wal: cut in %s: %w", l.dir, err)
	}
	upTo = min(upTo, l.last)
	limit, needsSnapshot := l.cutLimitLocked(upTo)
	if err := l.dropLocked(limit, needsSnapshot); err != nil {
		return l.failLocked("cut", err)
	}
	if upTo < l.last {
		return nil
	}
	if err := l.cutIdleLocked(upTo); err != nil {
		return l.failLocked("cut", err)
	}
	return nil
}

// cutLimitLocked returns how far a cut may go with the present snapshots, and whether the log then needs a snapshot.
func (l *Log) cutLimitLocked(upTo Index) (limit Index, needsSnapshot bool) {
	l.snapMu.Lock()
	defer l.snapMu.Unlock()
	n := len(l.snapshots)
	switch {
	case n == 0:
		return upTo, l.head.needsSnapshot
	case l.opts.Snapshots == 1: // nothing to fall back to was asked for
		return min(upTo, l.snapshots[n-1].at), true
	case n == 1:
		return 0, l.head.needsSnapshot
	}
	return min(upTo, l.snapshots[n-2].at), true
}

// cutIdleLocked empties a log whose records are all covered by snapshots. The rotation comes last, because the steps before it
// may free the room that it needs.
func (l *Log) cutIdleLocked(upTo Index) error {
	outdated, err := l.outdatedSnapshots()
	if err != nil || l.sizeLocked()+outdated < idleTail {
		return err
	}
	if err := l.twinSnapshot(upTo); err != nil {
		return err
	}
	limit, needsSnapshot := l.cutLimitLocked(upTo)
	if err := l.dropLocked(limit, needsSnapshot); err != nil {
		return err
	}
	if limit < l.last {
		return nil
	}
	if l.tailLocked().size > 0 {
		l.frames = l.frames[:0]
		err := l.rotateLocked()
		l.forgetFramesLocked()
		if err != nil {
			return err
		}
		if err := l.dropLocked(limit, needsSnapshot); err != nil {
			return err
		}
	}
	return l.dropStrandedSnapshots(l.segments[0].first)
}

// dropLocked removes the segments of which every record is at most limit:
//
//  1. the head says where the log begins, durably: from then on the segments before are dead;
//  2. they are removed, oldest first. A crash leaves some, and the next Open removes them.
func (l *Log) dropLocked(limit Index, needsSnapshot bool) error {
	n := 0
	for n < len(l.segments)-1 && l.segments[n+1].first-1 <= limit {
		n++
	}
	if n == 0 {
		return nil
	}
	h := l.head
	h.serial++
	h.first, h.needsSnapshot = l.segments[n].first, needsSnapshot
	if err := writeHead(l.fs, l.dir, h); err != nil {
		return err
	}
	l.head = h
	dead := l.segments[:n]
	l.segments = append([]segment(nil), l.segments[n:]...)
	for _, s := range dead {
		if err := removeSegment(l.fs, l.dir, s.first); err != nil {
			return err
		}
	}
	return syncDir(l.fs, filepath.Join(l.dir, segmentsName))
}
