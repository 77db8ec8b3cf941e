package wal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// smallLog makes a log of several segments whose last Append holds three records, and returns its records.
func smallLog(t *testing.T) (dir string, w *world) {
	w = newWorld(t, tempDir(t), Options{})
	must(t, w.open())
	for i := range 15 {
		must(t, w.append(1+i%3, "small"))
	}
	must(t, w.append(3, "last"))
	if n := len(w.log.segments); n < 3 {
		t.Fatalf("only %d segments", n)
	}
	must(t, w.close())
	segs := segmentsOf(t, w.dir)
	if tail := segs[len(segs)-1].scan; tail.records() < 4 {
		t.Fatalf("only %d records in the tail", tail.records())
	}
	return w.dir, w
}

func segmentsOf(t *testing.T, dir string) []foundSegment {
	s, err := analyze(osFS{}, dir, nil, nil)
	must(t, err)
	return s.segments
}

// tornTail notes what Open logs about the torn tail that it has cut.
type tornTail struct {
	slog.Handler
	bytes int64
	kept  string // "" if nothing was cut
}

func (c *tornTail) Enabled(context.Context, slog.Level) bool { return true }

func (c *tornTail) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "bytes":
			c.bytes = a.Value.Int64()
		case "kept":
			c.kept = a.Value.String()
		}
		return true
	})
	return nil
}

// replayed opens the log and reads all records; err is the error of Open.
func replayed(t *testing.T, dir string) (texts []string, cut *tornTail, err error) {
	cut = &tornTail{Handler: slog.DiscardHandler}
	l, err := Open(dir, Options{SegmentSize: smallSegment, Logger: slog.New(cut)})
	if err != nil {
		return nil, cut, err
	}
	defer l.Close()
	must(t, l.Replay(1, func(i Index, typ byte, data []byte) error {
		if int(i) != len(texts)+1 {
			t.Fatalf("record %d after %d", i, len(texts))
		}
		texts = append(texts, string(data))
		return nil
	}))
	return texts, cut, nil
}

func wantPrefix(t *testing.T, label string, got, all []string, n int) {
	t.Helper()
	if len(got) != n {
		t.Fatalf("%s: %d records, want %d", label, len(got), n)
	}
	for i := range got {
		if got[i] != all[i] {
			t.Fatalf("%s: record %d is %q, want %q", label, i+1, got[i], all[i])
		}
	}
}

func wantCorruption(t *testing.T, label string, err error, file string) *CorruptionError {
	t.Helper()
	var c *CorruptionError
	if !errors.As(err, &c) {
		t.Fatalf("%s: want a CorruptionError, got %v", label, err)
	}
	if file != "" && c.File != file {
		t.Fatalf("%s: it blames %s, want %s: %v", label, c.File, file, err)
	}
	return c
}

func TestW2_TruncationAtEveryByte(t *testing.T) {
	dir, w := smallLog(t)
	segs := segmentsOf(t, dir)
	for k, seg := range segs {
		name := segmentFile(dir, seg.scan.first)
		whole, err := os.ReadFile(name)
		must(t, err)
		for n := range len(whole) {
			label := fmt.Sprintf("segment %d truncated to %d of %d bytes", k, n, len(whole))
			must(t, os.WriteFile(name, whole[:n], filePerm))
			good := scanSegment(whole[:n], seg.scan.first, nil)
			got, rec, err := replayed(t, dir)
			switch tail := k == len(segs)-1; {
			case !tail:
				c := wantCorruption(t, label, err, segmentRel(seg.scan.first))
				if c.Offset != good.end {
					t.Fatalf("%s: offset %d, want %d", label, c.Offset, good.end)
				}
			case err != nil:
				t.Fatalf("%s: %v", label, err)
			default:
				wantPrefix(t, label, got, w.acked, int(good.next())-1)
				wantAside(t, label, dir, rec, whole[good.end:n])
			}
		}
		must(t, os.WriteFile(name, whole, filePerm))
	}
}

// wantAside checks that the part that was cut is kept.
func wantAside(t *testing.T, label, dir string, torn *tornTail, cut []byte) {
	t.Helper()
	if len(cut) == 0 {
		if torn.kept != "" {
			t.Fatalf("%s: cut %d bytes of a clean tail", label, torn.bytes)
		}
		return
	}
	if torn.bytes != int64(len(cut)) {
		t.Fatalf("%s: reports %d bytes cut, want %d", label, torn.bytes, len(cut))
	}
	b, err := os.ReadFile(filepath.Join(dir, torn.kept))
	must(t, err)
	if string(b) != string(cut) {
		t.Fatalf("%s: kept %q, want %q", label, b, cut)
	}
}

// TestW2_FlippedBitInEveryByte: a damaged record with good ones after it is corruption, and the error names file and offset. Only the very
// last record may count as a torn write.
func TestW2_FlippedBitInEveryByte(t *testing.T) {
	dir, w := smallLog(t)
	segs := segmentsOf(t, dir)
	for k, seg := range segs {
		name := segmentFile(dir, seg.scan.first)
		whole, err := os.ReadFile(name)
		must(t, err)
		for n := range whole {
			label := fmt.Sprintf("segment %d, byte %d, bit %d flipped", k, n, n%8)
			bad := append([]byte(nil), whole...)
			bad[n] ^= 1 << (n % 8)
			must(t, os.WriteFile(name, bad, filePerm))
			lastRecord := seg.scan.lastAt
			got, _, err := replayed(t, dir)
			if k == len(segs)-1 && int64(n) >= lastRecord {
				must(t, err)
				wantPrefix(t, label, got, w.acked, len(w.acked)-1)
				continue
			}
			c := wantCorruption(t, label, err, segmentRel(seg.scan.first))
			if c.Offset > int64(n) {
				t.Fatalf("%s: offset %d", label, c.Offset)
			}
			if after, rerr := os.ReadFile(name); rerr != nil || string(after) != string(bad) {
				t.Fatalf("%s: Open changed a corrupt log (%v)", label, rerr)
			}
		}
		must(t, os.WriteFile(name, whole, filePerm))
	}
}

// TestW2_FlipBelowSnapshotIsNoTornTail: a snapshot proves that the last record was durable. So if that record is damaged, it is not a torn
// write.
func TestW2_FlipBelowSnapshotIsNoTornTail(t *testing.T) {
	dir, w := smallLog(t)
	must(t, w.open())
	must(t, w.snapshot())
	must(t, w.close())
	segs := segmentsOf(t, dir)
	name := segmentFile(dir, segs[len(segs)-1].scan.first)
	b, err := os.ReadFile(name)
	must(t, err)
	b[len(b)-1] ^= 1
	must(t, os.WriteFile(name, b, filePerm))
	_, _, err = replayed(t, dir)
	wantCorruption(t, "last record flipped", err, segmentRel(segs[len(segs)-1].scan.first))
}

func TestW2_ZeroTail(t *testing.T) {
	for _, n := range []int{1, 7, 511, 512, 4096, 100_000} {
		dir, w := smallLog(t)
		segs := segmentsOf(t, dir)
		name := segmentFile(dir, segs[len(segs)-1].scan.first)
		b, err := os.ReadFile(name)
		must(t, err)
		must(t, os.WriteFile(name, append(b, make([]byte, n)...), filePerm))
		w.recovered(dir, fmt.Sprintf("%d zeros at the end", n))
	}
}

// TestW2_GarbageTail: bytes that are neither a record nor zeros.
func TestW2_GarbageTail(t *testing.T) {
	dir, w := smallLog(t)
	segs := segmentsOf(t, dir)
	name := segmentFile(dir, segs[len(segs)-1].scan.first)
	b, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, append(b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7fgarbage"...), filePerm))
	w.recovered(dir, "garbage at the end")
}

// TestW2_MissingSegment removes each segment in turn, the first and the last included: only its file, or all of it.
func TestW2_MissingSegment(t *testing.T) {
	dir, _ := smallLog(t)
	for _, seg := range segmentsOf(t, dir) {
		for _, what := range []string{segmentFile(dir, seg.scan.first), segmentDir(dir, seg.scan.first)} {
			aside := filepath.Join(dir, "hidden")
			must(t, os.Rename(what, aside))
			_, _, err := replayed(t, dir)
			wantCorruption(t, "without "+what, err, segmentRel(seg.scan.first))
			must(t, os.Rename(aside, what))
		}
	}
	_, _, err := replayed(t, dir)
	must(t, err)
}

// TestW2_AlienFile: tidwall reads every file whose name begins with 20 digits, so it would take such a file for records.
func TestW2_AlienFile(t *testing.T) {
	dir, _ := smallLog(t)
	seg := segmentsOf(t, dir)[1].scan.first
	must(t, os.WriteFile(filepath.Join(segmentDir(dir, seg), segmentName(seg+1)), []byte("x"), filePerm))
	_, _, err := replayed(t, dir)
	wantCorruption(t, "foreign file", err, segmentRel(seg))
}

// TestW2_LogWithoutHead: a log with records and without a head is corrupt, not new.
func TestW2_LogWithoutHead(t *testing.T) {
	dir, _ := smallLog(t)
	must(t, os.Remove(filepath.Join(dir, headName)))
	_, _, err := replayed(t, dir)
	wantCorruption(t, "without head", err, headName)
}

// TestW2_CutPiecesAreBounded: a node that crashes again and again does not fill the disk with torn tails.
func TestW2_CutPiecesAreBounded(t *testing.T) {
	dir, w := smallLog(t)
	for i := range cutsKept + 5 {
		segs := segmentsOf(t, dir)
		name := segmentFile(dir, segs[len(segs)-1].scan.first)
		b, err := os.ReadFile(name)
		must(t, err)
		must(t, os.WriteFile(name, append(b, 0, 0, 0), filePerm))
		w.recovered(dir, fmt.Sprint("round ", i))
	}
	pieces, err := os.ReadDir(filepath.Join(dir, cutName))
	must(t, err)
	if len(pieces) != cutsKept {
		t.Fatalf("%d pieces kept, want %d", len(pieces), cutsKept)
	}
}
