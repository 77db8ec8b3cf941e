package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	tidwall "github.com/tidwall/wal"
)

// addOpinion lets tidwall's library read what Posta found good of each segment, and compares the frames. The library has no
// checksums: it cannot find damage, but it finds a frame that Posta's reader has lost, split or invented. It gets a copy,
// because it creates, renames and syncs files when it opens and closes a log.
func (r *Report) addOpinion() (err error) {
	tmp, err := os.MkdirTemp("", "posta-verify-")
	if err != nil {
		return fmt.Errorf("wal: verify %s: directory for copies of segments (TMPDIR chooses another one): %w", r.Dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	for _, s := range r.Segments {
		b, err := os.ReadFile(segmentFile(r.Dir, s.First))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a segment that was only half made, or was cut since it was listed
		}
		if err != nil {
			return fmt.Errorf("wal: verify %s: %w", r.Dir, err)
		}
		known := scanSegment(b[:min(s.Good, int64(len(b)))], s.First, nil) // a log in use may have changed
		copied := filepath.Join(tmp, segmentName(s.First))
		if err := os.WriteFile(copied, b[:known.end], filePerm); err != nil {
			return fmt.Errorf("wal: verify %s: copy %s (TMPDIR chooses another directory): %w", r.Dir, s.File, err)
		}
		if differs := compareFrames(tmp, b, known); differs != nil {
			r.Differs = append(r.Differs, fmt.Sprintf("%s: %v", s.File, differs))
		} else {
			r.Agreed += known.entries
		}
		if err := os.Remove(copied); err != nil {
			return fmt.Errorf("wal: verify %s: %w", r.Dir, err)
		}
	}
	return nil
}

// compareFrames returns the first difference between the frames that known describes in b, and those that tidwall reads in dir.
func compareFrames(dir string, b []byte, known scan) (err error) {
	l, err := tidwall.Open(dir, &tidwall.Options{NoSync: true, NoCopy: true, AllowEmpty: true, SegmentSize: math.MaxInt})
	if err != nil {
		return fmt.Errorf("tidwall refuses %d bytes with %d frames: %w", known.end, known.entries, err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	last, err := l.LastIndex()
	if want := uint64(known.first) + uint64(known.entries) - 1; err != nil || last != want {
		return errors.Join(fmt.Errorf("tidwall reads frames up to %d, and Posta up to %d", last, want), err)
	}
	for k, at := range known.offsets {
		index := uint64(known.first) + uint64(k)
		frame, err := l.Read(index)
		if err != nil {
			return fmt.Errorf("tidwall does not read frame %d at byte %d: %w", index, at, err)
		}
		size, prefix := binary.Uvarint(b[at:])
		if from := at + int64(prefix); !bytes.Equal(frame, b[from:from+int64(size)]) {
			return fmt.Errorf("tidwall reads other bytes in frame %d at byte %d", index, at)
		}
	}
	return nil
}
