package wal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	tidwall "github.com/tidwall/wal"
)

// Replay calls fn for every record from index from (0: from First) to what was the last one at the call. data is valid
// until fn returns, and not to be changed. An error of fn ends the replay and is returned as it is. ErrGone if from
// has been cut; *CorruptionError if a record is not what was appended. Any goroutine, beside Append and Cut.
func (l *Log) Replay(from Index, fn func(i Index, typ byte, data []byte) error) error {
	l.mu.Lock()
	first, last := l.segments[0].first, l.last
	l.mu.Unlock()
	if from == 0 {
		from = first
	}
	for from <= last {
		r, seg, end, err := l.openReader(from)
		if err != nil {
			return err
		}
		from, err = l.replaySegment(r, seg, from, min(end, last), fn)
		if closeErr := r.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("wal: replay in %s: close segment %d: %w", l.dir, seg, closeErr)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openReader opens the segment that holds record i. Under the lock, so that nobody appends or cuts meanwhile: tidwall
// loads the whole file when it opens it, and what follows reads memory.
func (l *Log) openReader(i Index) (r *tidwall.Log, first, end Index, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, 0, 0, ErrClosed
	}
	if i < l.segments[0].first {
		return nil, 0, 0, fmt.Errorf("wal: replay from record %d in %s, which now begins with %d: %w", i, l.dir, l.segments[0].first, ErrGone)
	}
	k, found := slices.BinarySearchFunc(l.segments, i, func(s segment, i Index) int { return cmp.Compare(s.first, i) })
	if !found {
		k--
	}
	end = l.last
	if k+1 < len(l.segments) {
		end = l.segments[k+1].first - 1
	}
	first = l.segments[k].first
	r, err = openTidwall(l.dir, first)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("wal: replay in %s: %w", l.dir, err)
	}
	return r, first, end, nil
}

// replaySegment returns the index after the last record that fn has taken.
func (l *Log) replaySegment(r *tidwall.Log, first, from, to Index, fn func(Index, byte, []byte) error) (Index, error) {
	for ; from <= to; from++ {
		b, err := r.Read(uint64(from))
		if err == nil {
			e, ok := parseFrame(b)
			if ok && e.index == from && !e.seal() {
				if err := fn(from, e.typ, e.data); err != nil {
					return from, err
				}
				continue
			}
			err = errors.New("its frame is bad")
		}
		return from, &CorruptionError{Dir: l.dir, File: segmentRel(first), Index: from, Reason: "the record was good when the log was opened or written, and now: " + err.Error()}
	}
	return from, nil
}
