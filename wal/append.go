package wal

import (
	"fmt"
	"time"
)

// Append makes the records durable, all of them with one fsync (W3), and returns the index of the last. The records of one
// Append lie in one segment. On an error this Log continues as if none of them had been appended:
//   - ErrDiskFull: undone; the same call may be made again (W5).
//   - errEmptyRecord, errTooLarge: nothing was begun.
//   - errFailed: final (W4). Which of the records are there, if any, the next Open decides; it keeps a prefix of them.
func (l *Log) Append(recs ...Record) (Index, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usableLocked(); err != nil {
		return 0, fmt.Errorf("wal: append in %s: %w", l.dir, err)
	}
	if len(recs) == 0 {
		return l.last, nil
	}
	defer l.forgetFramesLocked()
	size, err := l.frameLocked(recs)
	if err != nil {
		return 0, err
	}
	if l.tailLocked().size+size >= int64(l.opts.SegmentSize) {
		err = l.rotateLocked()
	} else {
		err = l.commitLocked()
	}
	if err != nil {
		return 0, l.failLocked("append", err)
	}
	return l.last, nil
}

// frameLocked fills l.frames and returns their size on disk.
func (l *Log) frameLocked(recs []Record) (int64, error) {
	if cap(l.frames) < len(recs)+1 { // one more for the seal
		l.frames = make([]frame, 0, len(recs)+1+len(recs)/2)
	}
	l.frames = l.frames[:len(recs)]
	size := int64(0)
	for i := range recs {
		if err := setFrame(&l.frames[i], recs[i], l.last+1+Index(i), uint32(i)); err != nil {
			return 0, err
		}
		size += l.frames[i].diskSize()
	}
	return size, nil
}

// forgetFramesLocked drops the references to the caller's bytes.
func (l *Log) forgetFramesLocked() {
	clear(l.frames)
	l.frames = l.frames[:0]
}

// commitLocked writes l.frames to the tail and syncs it. Without room it undoes what it wrote.
func (l *Log) commitLocked() error {
	tail := l.tailLocked()
	if err := l.openTailLocked(); err != nil {
		return err // nothing was written, so nothing is taken back; that, too, would need a file descriptor
	}
	if err := l.tail.write(l.frames); isNoSpace(err) {
		return l.undoLocked(err)
	} else if err != nil {
		return err
	}
	began := l.syncBegins()
	if err := l.tail.sync(); err != nil {
		return fmt.Errorf("%w: %s: %w", errSync, segmentRel(tail.first), err)
	}
	l.synced(began)
	for i := range l.frames {
		tail.size += l.frames[i].diskSize()
		if !l.frames[i].seal() {
			l.last = l.frames[i].index
		}
	}
	return nil
}

// syncBegins reads the clock only if Options.OnSync is set, because the simulator has its own time.
func (l *Log) syncBegins() (now time.Time) {
	if l.opts.OnSync != nil {
		now = time.Now()
	}
	return now
}

func (l *Log) synced(began time.Time) {
	if l.opts.OnSync != nil {
		l.opts.OnSync(time.Since(began))
	}
}

// undoLocked takes back a write that found no room, durably, so that a crash does not bring back records that the caller was told are not
// there. The next append opens another writer.
func (l *Log) undoLocked(cause error) error {
	w := l.tail
	l.tail = nil
	if err := w.undo(l.tailLocked().size); err != nil {
		return fmt.Errorf("%w (%w) after: %w", errNotUndone, err, cause)
	}
	return cause
}

func (l *Log) tailLocked() *segment { return &l.segments[len(l.segments)-1] }

func (l *Log) openTailLocked() (err error) {
	if l.tail == nil {
		l.tail, err = l.store.openWriter(l.dir, l.tailLocked().first)
	}
	return err
}
