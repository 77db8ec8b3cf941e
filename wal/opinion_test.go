package wal

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// stateOf returns what a reader could have changed: names, bytes, and times of change.
func stateOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	state := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		state[path] = info.Mode().String() + info.ModTime().String()
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			state[path] += string(b)
			return err
		}
		return nil
	}))
	return state
}

// TestW2_SecondReaderAgrees: whatever has happened to a log, tidwall's library reads the frames that Posta's reader finds good, and
// nothing of the log is changed.
func TestW2_SecondReaderAgrees(t *testing.T) {
	for name, x := range map[string]struct {
		harm    func(t *testing.T, dir string, segs []foundSegment)
		damaged bool
		torn    bool
	}{
		"good": {func(*testing.T, string, []foundSegment) {}, false, false},
		"torn tail": {func(t *testing.T, dir string, segs []foundSegment) {
			tail := segs[len(segs)-1].scan
			must(t, os.Truncate(segmentFile(dir, tail.first), tail.lastAt+3))
		}, false, true},
		"flipped bit": {func(t *testing.T, dir string, segs []foundSegment) {
			file := segmentFile(dir, segs[1].scan.first)
			b, err := os.ReadFile(file)
			must(t, err)
			b[len(b)/2] ^= 4
			must(t, os.WriteFile(file, b, filePerm))
		}, true, false},
		"missing segment": {func(t *testing.T, dir string, segs []foundSegment) {
			must(t, os.RemoveAll(segmentDir(dir, segs[1].scan.first)))
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := smallLog(t)
			x.harm(t, dir, segmentsOf(t, dir))
			frames := 0
			for _, s := range segmentsOf(t, dir) {
				frames += s.scan.entries
			}
			copies := t.TempDir()
			t.Setenv("TMPDIR", copies)
			before := stateOf(t, dir)
			r, err := Verify(dir)
			must(t, err)
			if r.Agreed != frames || len(r.Differs) > 0 || r.OK() == x.damaged || (r.Torn != nil) != x.torn {
				t.Fatalf("%d frames, report:\n%s", frames, r)
			}
			if !maps.Equal(before, stateOf(t, dir)) {
				t.Fatal("the second reader changed the log")
			}
			if left, err := os.ReadDir(copies); err != nil || len(left) > 0 {
				t.Fatalf("copies stay: %v, %v", left, err)
			}
		})
	}
}

// TestW2_SecondReaderDisagrees: a frame that Posta's reader loses, takes for a longer one, or finds elsewhere is reported.
func TestW2_SecondReaderDisagrees(t *testing.T) {
	dir, _ := smallLog(t)
	first := segmentsOf(t, dir)[0].scan.first
	b, err := os.ReadFile(segmentFile(dir, first))
	must(t, err)
	for name, wrong := range map[string]func(*scan, []byte){
		"lost":    func(s *scan, _ []byte) { s.entries, s.offsets = s.entries-1, s.offsets[:s.entries-1] },
		"moved":   func(s *scan, _ []byte) { s.offsets[1] = s.offsets[0] },
		"bytes":   func(s *scan, b []byte) { b[s.offsets[1]+headSize+1] ^= 1 },
		"shifted": func(s *scan, _ []byte) { s.first++ },
	} {
		copied := t.TempDir()
		must(t, os.WriteFile(filepath.Join(copied, segmentName(first)), b, filePerm))
		known, mine := scanSegment(b, first, nil), append([]byte(nil), b...)
		must(t, compareFrames(copied, mine, known))
		wrong(&known, mine)
		differs := compareFrames(copied, mine, known)
		if differs == nil {
			t.Errorf("%s: no difference found", name)
			continue
		}
		if r := (Report{Differs: []string{differs.Error()}}); r.OK() {
			t.Errorf("%s: a log that two readers read differently is called sound", name)
		}
	}
}
