package wal

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Repair makes a damaged log usable again, by people's decision: it cuts at the first bad record. Everything it takes
// out is kept in DIR/cut/repair-N; Report.Lost says what is lost. A sound log is left as it is, torn tail and all.
//
// What remains must be a state that once was: records without a hole, from the beginning or from after a good snapshot.
// So snapshots newer than the last good record go too, and if no start is left the whole log does; then it begins
// again after the newest good snapshot, or from nothing.
//
// The repaired log has a new log id: it has lost records that its peers may have seen the effects of, and would give
// their numbers to others (R2). With the new id the peers fail the sessions concerned instead of mixing them up (R8).
//
// Errors: ErrLocked; ErrDiskFull. After any error, or a crash, Repair may be called again.
func Repair(dir string) (Report, error) { return repair(osFS{}, dir) }

func repair(fsys FS, dir string) (r Report, err error) {
	if _, err := fsys.ReadDir(dir); err != nil {
		return Report{Dir: dir}, fmt.Errorf("wal: repair %s: %w", dir, err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return Report{Dir: dir}, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	before, s, _, err := verify(fsys, dir)
	before.Holder = ""
	if err != nil || before.Damage == nil {
		return before, err
	}
	t := chooseTarget(s, before)
	lost, err := t.apply(fsys, s)
	if err != nil {
		return before, fmt.Errorf("wal: repair %s: %w", dir, orDiskFull(err))
	}
	after, _, _, err := verify(fsys, dir)
	after.Holder = ""
	after.Lost = append([]string{before.Damage.Reason + ": " + before.Damage.File}, lost...)
	if err == nil && after.Damage != nil {
		err = after.Damage
	}
	return after, err
}

func orDiskFull(err error) error {
	if isNoSpace(err) {
		return fmt.Errorf("%w; make room and repair again: %w", ErrDiskFull, err)
	}
	return err
}

// target is the log that a repair leaves.
type target struct {
	head      head
	keep      []foundSegment // whole but for the end of the last one; empty: a new segment begins with head.first
	snapshots Index          // newer ones, and bad ones, go
	bad       map[string]bool
}

// chooseTarget decides without touching the disk.
func chooseTarget(s *analysis, r Report) target {
	t := target{bad: map[string]bool{}}
	var good []Index
	for _, sr := range r.Snapshots {
		if sr.Problem != "" {
			t.bad[sr.File] = true
		} else {
			good = append(good, sr.At)
		}
	}
	t.head = s.head
	t.keep = goodPrefix(s)
	for len(t.keep) > 1 && s.hasHead && t.keep[0].scan.first < s.head.first {
		t.keep = t.keep[1:] // dead: a Cut had let go of them
	}
	if len(t.keep) > 0 {
		first, last := t.keep[0].scan.first, t.keep[len(t.keep)-1].scan.next()-1
		t.head.first, t.snapshots = first, last
		if start, ok := newestUpTo(good, last); ok && start+1 >= first {
			return t
		}
		if first == 1 || s.hasHead && first == s.head.first && !s.head.needsSnapshot {
			t.head.needsSnapshot = false
			return t
		}
	}
	t.keep = nil
	t.snapshots, t.head.needsSnapshot = newestUpTo(good, ^Index(0))
	t.head.first = t.snapshots + 1
	return t
}

// newestUpTo is the highest of the ascending indexes that is at most limit.
func newestUpTo(ascending []Index, limit Index) (newest Index, ok bool) {
	for _, i := range ascending {
		if i <= limit {
			newest, ok = i, true
		}
	}
	return newest, ok
}

// apply makes the log the target: the new identity first, so that a half-repaired log that looks sound is not taken for the
// old one; then what goes, from the newest on; then the tail.
func (t target) apply(fsys FS, s *analysis) (lost []string, err error) {
	h, err := newHead()
	if err != nil {
		return nil, err
	}
	h.first, h.needsSnapshot = t.head.first, t.head.needsSnapshot
	for _, sub := range []string{segmentsName, snapshotsDir} {
		if err := makeDir(fsys, filepath.Join(s.dir, sub)); err != nil {
			return nil, err
		}
	}
	aside, err := makeRepairDir(fsys, s.dir)
	if err != nil {
		return nil, err
	}
	if err := createHead(fsys, s.dir, h); err != nil {
		return nil, err
	}
	lost = append(lost, fmt.Sprintf("log id %x; it is %x now, and peers fail the sessions they had with the old one", s.head.id.LogID, h.id.LogID))
	for i := len(s.snapshots) - 1; i >= 0; i-- {
		if n := s.snapshots[i]; n.at > t.snapshots || t.bad[n.rel()] {
			if err := moveAside(fsys, s.dir, n.rel(), aside); err != nil {
				return lost, err
			}
			lost = append(lost, fmt.Sprintf("snapshot after record %d, kept in %s", n.at, aside))
		}
	}
	moved, err := t.moveSegments(fsys, s, aside)
	lost = append(lost, moved...)
	if err != nil || len(t.keep) > 0 {
		return lost, err
	}
	return lost, makeSegment(fsys, s.dir, h.first)
}

func (t target) moveSegments(fsys FS, s *analysis, aside string) (lost []string, err error) {
	kept := map[Index]bool{}
	for i := range t.keep {
		kept[t.keep[i].scan.first] = true
	}
	for i := len(s.segments) - 1; i >= 0; i-- {
		f := &s.segments[i]
		if kept[f.scan.first] {
			continue
		}
		rel := filepath.Join(segmentsName, segmentName(f.scan.first))
		if err := moveAside(fsys, s.dir, rel, aside); err != nil {
			return lost, err
		}
		lost = append(lost, fmt.Sprintf("records from %d to at least %d, kept in %s", f.scan.first, f.scan.next()-1, aside))
	}
	if len(t.keep) == 0 {
		return lost, nil
	}
	cut, err := t.endTail(fsys, s.dir, aside)
	return append(lost, cut...), err
}

// endTail makes the last kept segment end with its last good record, unsealed, and free of what tidwall would trip over.
func (t target) endTail(fsys FS, dir, aside string) (lost []string, err error) {
	tail := &t.keep[len(t.keep)-1]
	if tail.foreign != "" {
		rel := filepath.Join(segmentsName, segmentName(tail.scan.first), tail.foreign)
		if err := moveAside(fsys, dir, rel, aside); err != nil {
			return nil, err
		}
		lost = append(lost, fmt.Sprintf("the file %s, kept in %s", rel, aside))
	}
	if tail.missing {
		return lost, makeSegment(fsys, dir, tail.scan.first)
	}
	end := tail.scan.end
	if tail.scan.sealed {
		end = tail.scan.lastAt
	}
	b, err := fsys.ReadFile(segmentFile(dir, tail.scan.first))
	if err != nil {
		return lost, err
	}
	if rest := b[min(end, int64(len(b))):]; len(rest) > 0 {
		name := filepath.Join(aside, fmt.Sprintf("%s-%d%s", segmentName(tail.scan.first), end, tornSuffix))
		if err := replaceFile(fsys, filepath.Join(dir, name), rest); err != nil {
			return lost, err
		}
		lost = append(lost, fmt.Sprintf("records from %d on: %d bytes, kept in %s", tail.scan.next(), len(rest), name))
	}
	return lost, truncateFile(fsys, segmentFile(dir, tail.scan.first), end)
}

// makeRepairDir makes the next DIR/cut/repair-N.
func makeRepairDir(fsys FS, dir string) (rel string, err error) {
	entries, err := readDir(fsys, filepath.Join(dir, cutName))
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, e := range entries {
		taken[e.Name()] = true
	}
	n := 1
	for taken[fmt.Sprintf("repair-%d", n)] {
		n++
	}
	rel = filepath.Join(cutName, fmt.Sprintf("repair-%d", n))
	return rel, makeDir(fsys, filepath.Join(dir, rel))
}

// moveAside renames; both directories are durable when it returns.
func moveAside(fsys FS, dir, rel, aside string) error {
	from := filepath.Join(dir, rel)
	if err := fsys.Rename(from, filepath.Join(dir, aside, filepath.Base(rel))); err != nil {
		return err
	}
	return errors.Join(syncDir(fsys, filepath.Join(dir, aside)), syncDir(fsys, filepath.Dir(from)))
}
