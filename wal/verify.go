package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Verify reads all of a log and changes nothing. It needs no lock; Report.Holder tells when the log is in use, and
// then a torn tail may just be an append under way. The error is for what could not be read; damage is in the report.
// It needs room for a copy of the largest segment in the temporary directory.
func Verify(dir string) (Report, error) {
	r, _, _, err := verify(osFS{}, dir)
	if err != nil {
		return r, err
	}
	return r, r.addOpinion()
}

func verify(fsys FS, dir string) (Report, *analysis, plan, error) {
	if _, err := fsys.ReadDir(dir); err != nil {
		return Report{Dir: dir}, nil, plan{}, fmt.Errorf("wal: verify %s: %w", dir, err)
	}
	r := Report{Dir: dir, Holder: Holder(dir)}
	s, err := analyze(fsys, dir, nil, nil)
	if err != nil {
		return r, nil, plan{}, err
	}
	p, damage := makePlan(s)
	if s.head.retired {
		p, damage = plan{fresh: true}, nil // all of it will be put aside
	}
	r.Retired = s.head.retired
	r.Identity, r.Damage, r.First = s.head.id, damage, max(s.head.first, 1)
	r.Last = r.First - 1
	r.addSegments(s, p)
	return r, s, p, r.addSnapshots(fsys, s)
}

func (r *Report) addSegments(s *analysis, p plan) {
	for i := range s.segments {
		f := &s.segments[i]
		sr := SegmentReport{
			First: f.scan.first, Last: f.scan.next() - 1, File: segmentRel(f.scan.first),
			Bytes: f.scan.size, Good: f.scan.end, Sealed: f.scan.sealed, Problem: f.corruption,
		}
		if r.Damage != nil && r.Damage.File == sr.File {
			sr.Problem = r.Damage.Reason
		}
		r.Segments = append(r.Segments, sr)
	}
	if r.Damage != nil || p.fresh {
		return
	}
	tail := p.segments[len(p.segments)-1].scan
	r.Last = tail.next() - 1
	if p.cut {
		r.Torn = &Cutting{File: segmentRel(tail.first), Offset: tail.end, Bytes: tail.size - tail.end, Next: tail.next()}
	}
}

func (r *Report) addSnapshots(fsys FS, s *analysis) error {
	reachable := !s.head.needsSnapshot || s.head.retired
	for _, n := range s.snapshots {
		b, err := fsys.ReadFile(filepath.Join(s.dir, n.rel()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed: the log is in use
		}
		if err != nil {
			return fmt.Errorf("wal: verify %s: %w", s.dir, err)
		}
		sr := SnapshotReport{At: n.at, File: n.rel(), Bytes: int64(len(b))}
		if _, bad := decodeSnapshot(b, n.at); bad != nil {
			sr.Problem = bad.Error()
		} else if n.at+1 >= s.head.first {
			reachable = true
		}
		r.Snapshots = append(r.Snapshots, sr)
	}
	if !reachable && r.Damage == nil {
		r.Damage = noSnapshot(s.dir, s.head.first)
	}
	return nil
}

// DumpRecord is one record as it lies on disk. Data is valid until the callback returns.
type DumpRecord struct {
	Index  Index
	Type   byte
	Append Index // the first record of the Append that wrote it
	File   string
	Offset int64
	Data   []byte
}

// Dump calls fn for every good record up to the first damage, which it returns as *CorruptionError. It changes nothing
// and needs no lock. A torn tail is skipped in silence, as Open would. An error of fn ends it and is returned.
func Dump(dir string, fn func(DumpRecord) error) error {
	r, s, p, err := verify(osFS{}, dir)
	if err != nil {
		return err
	}
	row := p.segments
	if r.Damage != nil {
		row = goodPrefix(s)
	}
	for i := range row {
		if err := dumpSegment(s.dir, row[i].scan, fn); err != nil {
			return err
		}
	}
	if r.Damage != nil {
		return r.Damage
	}
	return nil
}

// dumpSegment shows what the scan found good, though the file may have grown since.
func dumpSegment(dir string, known scan, fn func(DumpRecord) error) error {
	b, err := osFS{}.ReadFile(segmentFile(dir, known.first))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a segment that was only half made, or was cut since it was listed
	}
	if err != nil {
		return fmt.Errorf("wal: dump %s: %w", dir, err)
	}
	var failed error
	scanSegment(b[:min(known.end, int64(len(b)))], known.first, func(off int64, e entry) {
		if failed == nil {
			failed = fn(DumpRecord{Index: e.index, Type: e.typ, Append: e.group(), File: segmentRel(known.first), Offset: off, Data: e.data})
		}
	})
	return failed
}

// goodPrefix returns the segments up to and with the first that is not good to its end, from the first there is.
func goodPrefix(s *analysis) []foundSegment {
	for i := range s.segments {
		f := &s.segments[i]
		followed := i+1 < len(s.segments) && f.scan.whole() && f.scan.sealed && s.segments[i+1].scan.first == f.scan.next()
		if !followed {
			return s.segments[:i+1]
		}
	}
	return s.segments
}
