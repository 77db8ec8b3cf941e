package wal

import (
	"cmp"
	"fmt"
	"slices"
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
		seg, b, err := l.readSegment(from)
		if err != nil {
			return err
		}
		s := scanSegment(b, seg.first, func(_ int64, e entry) {
			if err == nil && from <= e.index && e.index <= last {
				err = fn(e.index, e.typ, e.data)
			}
		})
		if err != nil {
			return err
		}
		if s.end < seg.size {
			return &CorruptionError{Dir: l.dir, File: segmentRel(seg.first), Offset: s.end, Index: s.next(),
				Reason: "the record was good when the log was opened or written, and now its frame is bad"}
		}
		from = s.next()
	}
	return nil
}

// readSegment reads the durable bytes of the segment that holds record i, as the log is now.
func (l *Log) readSegment(i Index) (segment, []byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return segment{}, nil, errClosed
	}
	if i < l.segments[0].first {
		return segment{}, nil, fmt.Errorf("wal: replay from record %d in %s, which now begins with %d: %w", i, l.dir, l.segments[0].first,
			ErrGone)
	}
	k, found := slices.BinarySearchFunc(l.segments, i, func(s segment, i Index) int { return cmp.Compare(s.first, i) })
	if !found {
		k--
	}
	seg := l.segments[k]
	b, err := l.fs.ReadFile(segmentFile(l.dir, seg.first))
	if err != nil {
		return seg, nil, fmt.Errorf("wal: replay in %s: %w", l.dir, err)
	}
	return seg, b[:min(seg.size, int64(len(b)))], nil
}
