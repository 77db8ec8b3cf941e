package wal

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// Repair makes a damaged log usable again, by people's decision: it cuts at the first bad record. Everything it takes
// out is kept in DIR/cut/repair-N; Report.Lost says what is lost. A sound log is left as it is, torn tail and all.
//
// What remains must be a state that the log once had: records without a hole, from the beginning or from after a good snapshot.
// So snapshots newer than the last good record are taken out, too. If the records then have no valid start, all of them are
// taken out. The log then begins again after the newest good snapshot, or empty.
//
// The repaired log gets a new log id. It has lost records whose effects its peers may have seen, and will give their indexes to
// other records (R2). Because of the new id, the peers fail the sessions concerned instead of mixing them up (R8). The head
// also says that the log was repaired: a node reads what is left, takes over what is valid whatever was lost, and retires the
// log (R14).
//
// Errors: ErrLocked; ErrDiskFull. After any error, or a crash, Repair may be called again.
func Repair(dir string) (Report, error) { return RepairWith(dir, Options{}) }

// RepairWith is Repair of a log that is opened with such options, of which FS and Random count. It is exported for the simulator
// (test/sim), whose logs are on a disk of its own.
func RepairWith(dir string, o Options) (r Report, err error) {
	if o, err = o.withDefaults(); err != nil {
		return Report{Dir: dir}, err
	}
	fsys := o.FS
	if _, err := fsys.ReadDir(dir); err != nil {
		return Report{Dir: dir}, fmt.Errorf("wal: repair %s: %w", dir, err)
	}
	lock, err := Lock(fsys, dir)
	if err != nil {
		return Report{Dir: dir}, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	before, s, _, err := verify(fsys, dir)
	before.Holder = ""
	if err != nil || before.Damage == nil {
		return before, err
	}
	if s.former {
		return before, before.Damage // nothing is wrong with it
	}
	work := repairer{fsys: fsys, dir: dir, random: o.Random}
	if err := work.apply(s, chooseTarget(s, before)); err != nil {
		return before, fmt.Errorf("wal: repair %s: %w", dir, orDiskFull(err))
	}
	after, _, _, err := verify(fsys, dir)
	after.Holder = ""
	after.Lost = append([]string{before.Damage.Reason + ": " + before.Damage.File}, work.lost...)
	if err == nil && after.Damage != nil {
		err = after.Damage
	}
	return after, err
}

func orDiskFull(err error) error {
	if isNoSpace(err) {
		return noRoom(err)
	}
	return err
}

// target is the log that a repair leaves.
type target struct {
	head      head
	keep      []foundSegment // whole segments, except the end of the last one; empty: a new segment begins with head.first
	snapshots Index          // newer snapshots, and bad ones, are taken out
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
		t.keep = t.keep[1:] // dead: a Cut had released them
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

// newestUpTo returns the highest of the ascending indexes that is at most limit.
func newestUpTo(ascending []Index, limit Index) (newest Index, ok bool) {
	for _, i := range ascending {
		if i <= limit {
			newest, ok = i, true
		}
	}
	return newest, ok
}

// repairer makes a log the target.
type repairer struct {
	fsys   FS
	dir    string
	random io.Reader
	aside  string   // below dir: where it keeps what it takes out
	lost   []string // for people, in order
}

func (r *repairer) lose(format string, args ...any) {
	r.lost = append(r.lost, fmt.Sprintf(format, args...))
}

// apply works in this order: first the new identity, so that a half-repaired log that looks sound does not count as the old one; then it
// takes pieces out, newest first; then it ends the tail.
func (r *repairer) apply(s *analysis, t target) error {
	h, err := newHead(r.random)
	if err != nil {
		return err
	}
	h.first, h.needsSnapshot, h.repaired = t.head.first, t.head.needsSnapshot, true
	for _, sub := range []string{segmentsName, snapshotsDir} {
		if err := makeDir(r.fsys, filepath.Join(r.dir, sub)); err != nil {
			return err
		}
	}
	if r.aside, err = makeRepairDir(r.fsys, r.dir); err != nil {
		return err
	}
	if err := createHead(r.fsys, r.dir, h); err != nil {
		return err
	}
	r.lose("log id %x; it is %x now, and peers fail the sessions they had with the old one", s.head.id.LogID, h.id.LogID)
	if err := r.takeOut(s, t); err != nil {
		return err
	}
	if len(t.keep) == 0 {
		return makeSegment(r.fsys, r.dir, h.first)
	}
	return r.endTail(t.keep[len(t.keep)-1])
}

// takeOut moves the snapshots and segments aside that are not part of the target.
func (r *repairer) takeOut(s *analysis, t target) error {
	for _, n := range slices.Backward(s.snapshots) {
		if n.at > t.snapshots || t.bad[n.rel()] {
			if err := r.moveAside(n.rel()); err != nil {
				return err
			}
			r.lose("snapshot after record %d, kept in %s", n.at, r.aside)
		}
	}
	for _, f := range slices.Backward(s.segments) {
		if slices.ContainsFunc(t.keep, func(k foundSegment) bool { return k.scan.first == f.scan.first }) {
			continue
		}
		if err := r.moveAside(filepath.Join(segmentsName, segmentName(f.scan.first))); err != nil {
			return err
		}
		r.lose("records from %d to at least %d, kept in %s", f.scan.first, f.scan.next()-1, r.aside)
	}
	return nil
}

// endTail makes the last kept segment end with its last good record, unsealed, and free of what tidwall would trip over.
func (r *repairer) endTail(tail foundSegment) error {
	if tail.foreign != "" {
		rel := filepath.Join(segmentsName, segmentName(tail.scan.first), tail.foreign)
		if err := r.moveAside(rel); err != nil {
			return err
		}
		r.lose("the file %s, kept in %s", rel, r.aside)
	}
	if tail.missing {
		return makeSegment(r.fsys, r.dir, tail.scan.first)
	}
	end := tail.scan.end
	if tail.scan.sealed {
		end = tail.scan.lastAt
	}
	name := segmentFile(r.dir, tail.scan.first)
	b, err := r.fsys.ReadFile(name)
	if err != nil {
		return err
	}
	if rest := b[min(end, int64(len(b))):]; len(rest) > 0 {
		kept := filepath.Join(r.aside, fmt.Sprintf("%s-%d%s", segmentName(tail.scan.first), end, tornSuffix))
		if err := replaceFile(r.fsys, filepath.Join(r.dir, kept), rest); err != nil {
			return err
		}
		r.lose("records from %d on: %d bytes, kept in %s", tail.scan.next(), len(rest), kept)
	}
	return truncateFile(r.fsys, name, end)
}

// moveAside renames; both directories are durable when it returns.
func (r *repairer) moveAside(rel string) error {
	from, aside := filepath.Join(r.dir, rel), filepath.Join(r.dir, r.aside)
	if err := r.fsys.Rename(from, filepath.Join(aside, filepath.Base(rel))); err != nil {
		return err
	}
	return errors.Join(syncDir(r.fsys, aside), syncDir(r.fsys, filepath.Dir(from)))
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
