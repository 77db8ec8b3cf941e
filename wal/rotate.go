package wal

import "fmt"

// rotateLocked writes l.frames as the last ones of the tail and begins a new segment:
//
//  1. the next segment, empty, is made durable;
//  2. the frames and the seal are written to the tail, and synced together;
//  3. the next segment is the tail.
//
// In this order a seal proves that a segment follows, so that a lost last segment is noticed, and it costs no fsync
// of its own. Without room both steps are taken back.
func (l *Log) rotateLocked() error {
	records := len(l.frames)
	next := l.last + 1 + Index(records)
	l.frames = append(l.frames, frame{})
	setSeal(&l.frames[records], next, uint32(records))

	err := makeSegment(l.fs, l.dir, next)
	if err == nil {
		err = l.commitLocked()
	}
	if isNoSpace(err) {
		if undo := unmakeSegment(l.fs, l.dir, next); undo != nil {
			return fmt.Errorf("%w (%w) after: %w", errNotUndone, undo, err)
		}
	}
	if err != nil {
		return err
	}
	l.segments = append(l.segments, segment{first: next})
	if err := l.closeTail(); err != nil && l.failed == nil {
		// The records are durable and the caller is told so; but an fsync has failed, and there will be no other.
		l.failed = err
	}
	return nil
}
