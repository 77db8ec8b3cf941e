package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// afterRepair opens the repaired log. It checks that the records are a prefix of the former ones, under another log id.
func afterRepair(t *testing.T, label string, w *world, r Report) {
	t.Helper()
	if r.Damage != nil || len(r.Lost) == 0 || r.Identity.LogID == w.logID {
		t.Fatalf("%s: %v", label, r)
	}
	l, err := Open(w.dir, w.opts)
	if err != nil {
		t.Fatalf("%s: %v", label, err)
	}
	if l.Last() != r.Last || l.First() != r.First {
		t.Fatalf("%s: records %d to %d, the report says %d to %d", label, l.First(), l.Last(), r.First, r.Last)
	}
	must(t, l.Replay(0, func(i Index, typ byte, data []byte) error {
		if string(data) != w.acked[i-1] {
			return fmt.Errorf("%s: record %d is %q", label, i, data)
		}
		return nil
	}))
	if _, _, _, err := l.LoadSnapshot(); err != nil {
		t.Fatalf("%s: %v", label, err)
	}
	last, err := l.Append(Record{Type: 1, Parts: [][]byte{[]byte("continues")}})
	if err != nil || last != r.Last+1 {
		t.Fatalf("%s: append: %d, %v", label, last, err)
	}
	must(t, l.Close())
	again, err := Repair(w.dir)
	if err != nil || len(again.Lost) != 0 {
		t.Fatalf("%s: repairing a sound log: %v, %v", label, again.Lost, err)
	}
}

// TestW7_RepairCutsAtTheFirstBadRecord damages each record except the last in turn.
func TestW7_RepairCutsAtTheFirstBadRecord(t *testing.T) {
	dir, w := smallLog(t)
	total := len(w.acked)
	for bad := 1; bad < total; bad++ {
		v := *w
		v.dir = copyDir(t, dir)
		where := locate(t, v.dir, Index(bad))
		before, err := os.ReadFile(filepath.Join(v.dir, where.File))
		must(t, err)
		flip(t, filepath.Join(v.dir, where.File), int(where.Offset)+9)

		found, err := Verify(v.dir)
		if err != nil || found.Damage == nil || found.Damage.Index != Index(bad) || found.Damage.Offset != where.Offset ||
			found.Damage.File != where.File {
			t.Fatalf("record %d: verify says %v, %v", bad, found, err)
		}
		n := Index(0)
		if err := Dump(v.dir, func(DumpRecord) error { n++; return nil }); !errors.As(err, new(*CorruptionError)) || n != Index(bad)-1 {
			t.Fatalf("record %d: dump shows %d records and says %v", bad, n, err)
		}
		r, err := Repair(v.dir)
		must(t, err)
		label := fmt.Sprintf("record %d bad", bad)
		if r.Last != Index(bad)-1 || r.First != 1 {
			t.Fatalf("%s: %v", label, r)
		}
		afterRepair(t, label, &v, r)
		kept, err := os.ReadFile(filepath.Join(v.dir, cutName, "repair-1",
			fmt.Sprintf("%s-%d%s", filepath.Base(where.File), where.Offset, tornSuffix)))
		if err != nil || len(kept) != len(before)-int(where.Offset) {
			t.Fatalf("%s: %d bytes aside, %v", label, len(kept), err)
		}
		os.RemoveAll(v.dir)
	}
}

func TestW7_RepairMissingSegments(t *testing.T) {
	dir, w := smallLog(t)
	for k, seg := range segmentsOf(t, dir) {
		v := *w
		v.dir = copyDir(t, dir)
		must(t, os.RemoveAll(segmentDir(v.dir, seg.scan.first)))
		r, err := Repair(v.dir)
		must(t, err)
		if want := seg.scan.first - 1; r.Last != want {
			t.Fatalf("segment %d missing: last is %d, want %d: %v", k, r.Last, want, r)
		}
		afterRepair(t, fmt.Sprintf("segment %d missing", k), &v, r)
	}
}

// TestW7_RepairWithSnapshots: the repaired log holds a state that existed once, and snapshots of lost records are removed.
func TestW7_RepairWithSnapshots(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, w *world){
		"first segment bad": func(t *testing.T, w *world) {
			flip(t, segmentFile(w.dir, segmentsOf(t, w.dir)[0].scan.first), 5)
		},
		"first segment missing": func(t *testing.T, w *world) {
			must(t, os.RemoveAll(segmentDir(w.dir, segmentsOf(t, w.dir)[0].scan.first)))
		},
		"tail missing": func(t *testing.T, w *world) {
			s := segmentsOf(t, w.dir)
			must(t, os.RemoveAll(segmentDir(w.dir, s[len(s)-1].scan.first)))
		},
		"all segments missing": func(t *testing.T, w *world) { must(t, os.RemoveAll(filepath.Join(w.dir, segmentsName))) },
		"head missing":         func(t *testing.T, w *world) { must(t, os.Remove(filepath.Join(w.dir, headName))) },
		"snapshots missing":    func(t *testing.T, w *world) { must(t, os.RemoveAll(filepath.Join(w.dir, snapshotsDir))) },
		"newest snapshot bad, and a record": func(t *testing.T, w *world) {
			files := snapshotFiles(t, w.dir)
			flip(t, files[len(files)-1], 30)
			flip(t, segmentFile(w.dir, segmentsOf(t, w.dir)[1].scan.first), 5)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := busy(t, 4)
			must(t, w.append(30, "more"))
			must(t, w.append(30, "more"))
			must(t, w.close())
			damage(t, w)
			r, err := Repair(w.dir)
			must(t, err)
			afterRepair(t, name, w, r)
		})
	}
}

// TestW7_ARepairThatCrashedIsFinished: after a crash at any step of Repair, the log does not count as the old one, and calling Repair again
// finishes.
func TestW7_ARepairThatCrashedIsFinished(t *testing.T) {
	dir, w := smallLog(t)
	bad := locate(t, dir, Index(len(w.acked)/3))
	for k := 1; ; k++ {
		v := *w
		v.dir = copyDir(t, dir)
		flip(t, filepath.Join(v.dir, bad.File), int(bad.Offset)+9)
		d := newDisk(t, v.dir)
		d.crashAt = k
		_, err := RepairWith(v.dir, Options{FS: d})
		if err != nil && !errors.Is(err, errCrash) {
			t.Fatalf("step %d: %v", k, err)
		}
		for o := range outcomes {
			x := v
			x.dir = d.crash(o, int64(k))
			r, err := Repair(x.dir)
			must(t, err)
			if r.Last != bad.Index-1 || r.Identity.LogID == w.logID {
				t.Fatalf("crash after step %d (%s), unsynced %s: %v", k, d.steps[len(d.steps)-1], o, r)
			}
			os.RemoveAll(x.dir)
		}
		os.RemoveAll(v.dir)
		if err == nil {
			return
		}
	}
}

func TestW7_VerifyAndDumpOfASoundLog(t *testing.T) {
	w := busy(t, 3)
	must(t, w.close())
	segs := segmentsOf(t, w.dir)
	tail := segmentFile(w.dir, segs[len(segs)-1].scan.first)
	b, err := os.ReadFile(tail)
	must(t, err)
	must(t, os.WriteFile(tail, append(b, "torn"...), filePerm))
	r, err := Verify(w.dir)
	must(t, err)
	if !r.OK() || r.Holder != "" || r.Last != Index(len(w.acked)) || r.Torn == nil || r.Torn.Bytes != 4 || r.Identity.LogID != w.logID ||
		len(r.Snapshots) != 3 {
		t.Fatalf("%v", r)
	}
	if text := r.String(); !strings.Contains(text, "torn tail: 4 bytes") || !strings.HasSuffix(text, "ok\n") {
		t.Fatal(text)
	}
	want := r.First
	must(t, Dump(w.dir, func(d DumpRecord) error {
		if d.Index != want || string(d.Data) != w.acked[d.Index-1] || d.Append > d.Index {
			return fmt.Errorf("record %d: %+v", want, d)
		}
		want++
		return nil
	}))
	if want != r.Last+1 {
		t.Fatalf("dump ended before %d", want)
	}
	if after, err := os.ReadFile(tail); err != nil || len(after) != len(b)+4 {
		t.Fatalf("reading changed the log: %v", err)
	}
	if _, err := Verify(filepath.Join(w.dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("verify of nothing: %v", err)
	}
}

// locate finds a record on disk.
func locate(t *testing.T, dir string, i Index) (at DumpRecord) {
	must(t, Dump(dir, func(d DumpRecord) error {
		if d.Index == i {
			at = d
		}
		return nil
	}))
	return at
}

func copyDir(t *testing.T, dir string) string {
	to := tempDir(t)
	must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}
