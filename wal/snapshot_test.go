package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func snapshotFiles(t *testing.T, dir string) []string {
	s, err := analyze(osFS{}, dir, nil, nil)
	must(t, err)
	var names []string
	for _, n := range s.snapshots {
		names = append(names, filepath.Join(dir, n.rel()))
	}
	return names
}

func flip(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	b[at] ^= 0x10
	must(t, os.WriteFile(name, b, filePerm))
}

// busy makes a log with n snapshots, a cut after each, and records after the last one.
func busy(t *testing.T, n int) *world {
	w := newWorld(t, tempDir(t), Options{})
	must(t, w.open())
	for range n {
		must(t, w.append(40, "busy"))
		must(t, w.append(1, "busy"))
		must(t, w.snapshot())
		must(t, w.append(2, "after"))
		must(t, w.cut(w.newest))
	}
	return w
}

// TestN3_BadSnapshotFallsBack flips a bit in every byte of the newest snapshot. The snapshot before it is loaded, and the log still has all
// records after that one, although it was cut.
func TestN3_BadSnapshotFallsBack(t *testing.T) {
	w := busy(t, 3)
	before := w.log.snapshots[1].at
	if w.log.First() == 1 || w.log.First() > before+1 {
		t.Fatalf("the log begins with %d; the snapshot before is %d", w.log.First(), before)
	}
	must(t, w.close())
	files := snapshotFiles(t, w.dir)
	newest := files[len(files)-1]
	good, err := os.ReadFile(newest)
	must(t, err)
	for i := range good {
		flip(t, newest, i)
		must(t, w.open())
		at, data, ok, err := w.log.LoadSnapshot()
		if err != nil || !ok || at != before || string(data) != w.snapshots[before] {
			t.Fatalf("byte %d flipped: %d %q %v %v", i, at, data, ok, err)
		}
		n := w.log.Last() - before
		must(t, w.log.Replay(at+1, func(Index, byte, []byte) error { n--; return nil }))
		if n != 0 {
			t.Fatalf("byte %d flipped: %d records are missing after the snapshot", i, n)
		}
		must(t, w.close())
		must(t, os.Remove(newest+badSuffix))
		must(t, os.WriteFile(newest, good, filePerm))
	}
}

// TestN3_TruncatedSnapshotFallsBack: the same for every length to which the snapshot can be cut.
func TestN3_TruncatedSnapshotFallsBack(t *testing.T) {
	w := busy(t, 2)
	before := w.log.snapshots[0].at
	must(t, w.close())
	files := snapshotFiles(t, w.dir)
	newest := files[len(files)-1]
	good, err := os.ReadFile(newest)
	must(t, err)
	for n := range good {
		must(t, os.WriteFile(newest, good[:n], filePerm))
		must(t, w.open())
		if at, _, ok, err := w.log.LoadSnapshot(); err != nil || !ok || at != before {
			t.Fatalf("%d bytes left: %d %v %v", n, at, ok, err)
		}
		must(t, w.close())
	}
}

// TestN3_BadSnapshotIsNotCountedOn: after falling back, Cut keeps what the older snapshot needs until there are two good ones again.
func TestN3_BadSnapshotIsNotCountedOn(t *testing.T) {
	w := busy(t, 3)
	must(t, w.close())
	files := snapshotFiles(t, w.dir)
	flip(t, files[len(files)-1], 30)
	must(t, w.open())
	older, _, ok, err := w.log.LoadSnapshot()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	must(t, w.append(50, "on"))
	must(t, w.snapshot())
	must(t, w.append(50, "and on"))
	must(t, w.cut(w.newest))
	if w.log.First() > older+1 {
		t.Fatalf("cut to %d; if the newest snapshot goes bad too, %d is needed", w.log.First(), older+1)
	}
	must(t, w.close())
	files = snapshotFiles(t, w.dir)
	flip(t, files[len(files)-1], 30)
	must(t, w.open())
	if at, _, ok, err := w.log.LoadSnapshot(); err != nil || !ok || at != older {
		t.Fatalf("%d %v %v, want %d", at, ok, err, older)
	}
	must(t, w.close())
}

// TestN3_NoGoodSnapshot: if the log still begins at its first record, nothing is lost. After a cut it is corruption, not an empty state.
func TestN3_NoGoodSnapshot(t *testing.T) {
	w := busy(t, 1)
	must(t, w.close())
	flip(t, snapshotFiles(t, w.dir)[0], 30)
	must(t, w.open())
	if _, _, ok, err := w.log.LoadSnapshot(); ok || err != nil {
		t.Fatalf("%v %v, want to start from record 1", ok, err)
	}
	w.hasSnap, w.newest = false, 0
	w.check("replay from the start")
	must(t, w.close())

	w = busy(t, 3)
	must(t, w.close())
	for _, f := range snapshotFiles(t, w.dir) {
		must(t, os.Remove(f))
	}
	must(t, w.open())
	_, _, _, err := w.log.LoadSnapshot()
	wantCorruption(t, "no snapshot left", err, snapshotsDir)
	must(t, w.close())
}

// TestN3_IdleLogReturnsToNothing: an idle log shrinks to its snapshots, and still survives the loss of either copy.
func TestN3_IdleLogReturnsToNothing(t *testing.T) {
	for lose := range 2 {
		w := newWorld(t, tempDir(t), Options{})
		must(t, w.open())
		must(t, w.append(300, "work"))
		must(t, w.append(100, "work"))
		must(t, w.snapshot())
		must(t, w.cut(w.log.Last()))
		if size := w.log.Size(); size != 0 || w.log.First() != w.log.Last()+1 {
			t.Fatalf("an idle log has %d bytes, records %d to %d", size, w.log.First(), w.log.Last())
		}
		must(t, w.close())
		files := snapshotFiles(t, w.dir)
		if len(files) != 2 {
			t.Fatalf("%d snapshots, want two copies", len(files))
		}
		flip(t, files[lose], 30)
		w.recovered(w.dir, fmt.Sprintf("without copy %d", lose))
	}
}

// TestN3_IdleLogDropsStrandedSnapshots: snapshots of earlier states are useless once the log was cut after them.
func TestN3_IdleLogDropsStrandedSnapshots(t *testing.T) {
	w := newWorld(t, tempDir(t), Options{})
	must(t, w.open())
	for range 2 {
		must(t, w.append(10, "work"))
		w.snapshots[w.log.Last()] = strings.Repeat("state", idleTail)
		must(t, w.log.SaveSnapshot(w.log.Last(), []byte(w.snapshots[w.log.Last()])))
	}
	must(t, w.append(1, "a last word"))
	must(t, w.snapshot())
	must(t, w.cut(w.log.Last()))
	must(t, w.close())
	files := snapshotFiles(t, w.dir)
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > idleTail {
			t.Errorf("an idle log keeps %s: %v", f, err)
		}
	}
	if len(files) != 2 {
		t.Fatalf("%d snapshots in an idle log, want the two copies of the newest", len(files))
	}
	w.recovered(w.dir, "without stranded snapshots")
}

func TestN3_KeepsTheLastSnapshots(t *testing.T) {
	for keep := 1; keep <= 4; keep++ {
		w := newWorld(t, tempDir(t), Options{Snapshots: keep})
		must(t, w.open())
		for range 6 {
			must(t, w.append(5, "x"))
			must(t, w.snapshot())
			must(t, w.append(40, "y"))
			must(t, w.cut(w.newest))
		}
		if n := len(snapshotFiles(t, w.dir)); n != keep {
			t.Fatalf("%d snapshots, want %d", n, keep)
		}
		if w.log.First() == 1 {
			t.Fatalf("nothing was ever cut with %d snapshots", keep)
		}
		must(t, w.close())
		w.recovered(w.dir, fmt.Sprint("keep ", keep))
	}
}

func TestN3_SnapshotIndexIsChecked(t *testing.T) {
	w := busy(t, 1)
	for _, at := range []Index{w.log.Last() + 1, w.newest - 1} {
		if err := w.log.SaveSnapshot(at, []byte("x")); !errors.Is(err, ErrSnapshotIndex) {
			t.Fatalf("snapshot at %d: %v", at, err)
		}
	}
	w.check("after refused snapshots")
	must(t, w.close())
	if err := w.log; err != nil {
		t.Fatal("still open")
	}
}
