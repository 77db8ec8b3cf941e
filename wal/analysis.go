package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// analysis is what a directory holds, read without changing anything. Open, Verify and Repair all start from it.
type analysis struct {
	dir       string
	head      head
	hasHead   bool           // there is a good one
	former    bool           // the head was written by a former version
	headBytes int            // length of the head file, 0 if there is none
	segments  []foundSegment // by first record
	snapshots []snapshotName
	leftovers []string // temporary files, relative to dir
	onSegment func() error
	onRecord  func(Index, byte, []byte)
}

// foundSegment is one segment directory.
type foundSegment struct {
	scan       scan
	missing    bool   // the directory exists, the file does not
	corruption string // why the bytes after the scan's end are not a torn tail; "" if they are, or if there are none
	foreign    string // a file that tidwall would take for part of the segment
}

// empty reports whether nothing was ever written: the segment was just made, or only half made.
func (f *foundSegment) empty() bool { return f.scan.size == 0 && f.foreign == "" }

// analyze reads dir. onSegment, unless nil, is called before each segment. onRecord, unless nil, is called for each good record
// that has not been cut according to the head. Errors are those of reading and of onSegment. Damage is not an error, but part
// of the analysis.
func analyze(fsys FS, dir string, onSegment func() error, onRecord func(Index, byte, []byte)) (*analysis, error) {
	s := &analysis{dir: dir, onSegment: onSegment, onRecord: onRecord}
	for _, part := range []func(FS) error{s.readHead, s.readSegments, s.listSnapshots, s.listLeftovers} {
		if err := part(fsys); err != nil {
			return nil, fmt.Errorf("wal: read %s: %w", dir, err)
		}
	}
	return s, nil
}

func (s *analysis) readHead(fsys FS) error {
	b, err := fsys.ReadFile(filepath.Join(s.dir, headName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.headBytes = len(b)
	s.head, s.hasHead = decodeHead(b)
	s.former = !s.hasHead && bytes.HasPrefix(b, []byte(formerMagic))
	return nil
}

func (s *analysis) listLeftovers(fsys FS) error {
	for _, sub := range []string{"", snapshotsDir, cutName} {
		entries, err := readDir(fsys, filepath.Join(s.dir, sub))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), tmpSuffix) && !e.IsDir() {
				s.leftovers = append(s.leftovers, filepath.Join(sub, e.Name()))
			}
		}
	}
	return nil
}

func (s *analysis) readSegments(fsys FS) error {
	entries, err := readDir(fsys, filepath.Join(s.dir, segmentsName))
	if err != nil {
		return err
	}
	for _, e := range entries {
		first, ok := parseSegmentName(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		f, err := s.readSegment(fsys, first)
		if err != nil {
			return err
		}
		s.segments = append(s.segments, f)
	}
	return nil
}

func (s *analysis) readSegment(fsys FS, first Index) (f foundSegment, err error) {
	if s.onSegment != nil {
		if err := s.onSegment(); err != nil {
			return f, err
		}
	}
	entries, err := readDir(fsys, segmentDir(s.dir, first))
	if err != nil {
		return f, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), tmpSuffix) {
			s.leftovers = append(s.leftovers, filepath.Join(segmentsName, segmentName(first), e.Name()))
			continue
		}
		// tidwall reads every file whose name starts with 20 digits.
		if name := e.Name(); len(name) >= 20 && name != segmentName(first) {
			if _, digits := parseSegmentName(name[:20]); digits {
				f.foreign = name
			}
		}
	}
	b, err := fsys.ReadFile(segmentFile(s.dir, first))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f.missing = err != nil
	var each func(int64, entry)
	if s.onRecord != nil && first >= s.head.first {
		each = func(_ int64, e entry) { s.onRecord(e.index, e.typ, e.data) }
	}
	f.scan = scanSegment(b, first, each)
	if !f.scan.whole() {
		f.corruption = tornOrCorrupt(b, f.scan)
	}
	f.scan.offsets = nil // a long log of small records has very many
	return f, nil
}

func (s *analysis) listSnapshots(fsys FS) error {
	entries, err := readDir(fsys, filepath.Join(s.dir, snapshotsDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n, ok := parseSnapshotName(e.Name()); ok && !e.IsDir() {
			s.snapshots = append(s.snapshots, n)
		}
	}
	return nil
}

// newest returns the index of the newest snapshot, 0 without one. A snapshot with its final name proves that every record up to its
// index was durable, because SaveSnapshot refuses any other index.
func (s *analysis) newest() Index {
	if len(s.snapshots) == 0 {
		return 0
	}
	return s.snapshots[len(s.snapshots)-1].at
}
