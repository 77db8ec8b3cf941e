package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// retirement is the life of a log that is retired with its heritage, and of the next log, which takes the heritage over.
func (w *world) retirement() error {
	for _, step := range []func() error{
		w.open,
		func() error { return w.append(8, "before") },
		w.snapshot,
		func() error { return w.append(3, "behind the snapshot") },
		func() error { return w.log.Retire([]byte("heritage")) },
		w.close,
		w.inherit,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) inherit() error {
	l, err := Open(w.dir, w.opts)
	if err != nil {
		return err
	}
	w.log = l
	h, err := l.Heritage()
	if err != nil {
		return err
	}
	if l.Last() == 0 && h != nil {
		if _, err := l.Append(Record{Parts: [][]byte{h}}); err != nil {
			return err
		}
	}
	if err := l.DropHeritage(); err != nil {
		return err
	}
	return w.close()
}

// TestR14_ARetirementCrashedAtEveryStep: after the crash the log is either the former one with the same id, or a new one whose first record
// is the heritage. There is no third state, and the heritage is there once.
func TestR14_ARetirementCrashedAtEveryStep(t *testing.T) {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{}))
	d.before = func() {
		if len(d.steps) == 0 {
			return
		}
		label := fmt.Sprintf("crash after step %d (%s)", len(d.steps), d.steps[len(d.steps)-1])
		for o, seeds := range map[outcome]int64{lost: 1, kept: 1, torn: 3} {
			for seed := range seeds {
				image := d.crash(o, seed*1000+int64(len(d.steps)))
				afterRetirement(t, image, w, fmt.Sprintf("%s, unsynced %s", label, o))
				os.RemoveAll(image)
			}
		}
	}
	must(t, w.retirement())
	d.before()
}

func afterRetirement(t *testing.T, dir string, w *world, label string) {
	t.Helper()
	v := newWorld(t, dir, Options{})
	for range 2 {
		if err := v.inherit(); err != nil {
			t.Fatalf("%s: %v", label, err)
		}
	}
	l, err := Open(dir, v.opts)
	if err != nil {
		t.Fatalf("%s: %v", label, err)
	}
	defer l.Close()
	records := 0
	heritage := false
	must(t, l.Replay(0, func(_ Index, _ byte, data []byte) error {
		records++
		heritage = heritage || string(data) == "heritage"
		return nil
	}))
	old := l.Identity().LogID == w.logID
	switch {
	case w.logID == [16]byte{}: // the new log had not been opened
	case old && (heritage || records < len(w.acked)):
		t.Fatalf("%s: the old log continues with %d records of %d, heritage %v", label, records, len(w.acked), heritage)
	case !old && (!heritage || records != 1):
		t.Fatalf("%s: the new log has %d records, heritage %v", label, records, heritage)
	}
	if h, err := l.Heritage(); h != nil || err != nil {
		t.Fatalf("%s: the heritage is still there: %v", label, err)
	}
}

// TestR14_ARetiredLogIsKeptOnce: nothing can be written to a retired log. It is kept aside, and the one retired before it is removed.
func TestR14_ARetiredLogIsKeptOnce(t *testing.T) {
	dir := tempDir(t)
	var ids [][16]byte
	for range 3 {
		l, err := Open(dir, quiet(Options{}))
		must(t, err)
		if l.Identity().Life == 0 || l.Last() != 0 || l.Identity().Incarnation != 1 {
			t.Fatalf("%+v, last %d", l.Identity(), l.Last())
		}
		ids = append(ids, l.Identity().LogID)
		_, err = l.Append(Record{Parts: [][]byte{[]byte("x")}})
		must(t, err)
		must(t, l.Retire(nil))
		if _, err := l.Append(Record{Parts: [][]byte{[]byte("y")}}); !errors.Is(err, errRetired) {
			t.Fatalf("a retired log is written to: %v", err)
		}
		must(t, l.Close())
		r, err := Verify(dir)
		must(t, err)
		if !r.Retired || r.Damage != nil {
			t.Fatalf("%+v", r)
		}
	}
	if ids[0] == ids[1] || ids[1] == ids[2] {
		t.Fatal("a log id comes twice")
	}
	l, err := Open(dir, quiet(Options{}))
	must(t, err)
	must(t, l.Close())
	entries, err := os.ReadDir(filepath.Join(dir, retiredName))
	must(t, err)
	if len(entries) != 1 || entries[0].Name() != fmt.Sprintf("%x", ids[2]) {
		t.Fatalf("%v", entries)
	}
}

// TestR14_ALogThatLeavesNothingLeavesNothingOlder: the removal of what it has taken over may have failed. The next log would take that over
// once more, and with it what this one has removed since.
func TestR14_ALogThatLeavesNothingLeavesNothingOlder(t *testing.T) {
	dir := tempDir(t)
	for _, heritage := range [][]byte{[]byte("old"), nil} {
		l, err := Open(dir, quiet(Options{}))
		must(t, err)
		must(t, l.Retire(heritage))
		must(t, l.Close())
	}
	l, err := Open(dir, quiet(Options{}))
	must(t, err)
	if h, err := l.Heritage(); h != nil || err != nil {
		t.Errorf("it takes over %q, %v", h, err)
	}
	must(t, l.Close())
}

// TestR14_EachOpeningHasALife: each opening has a life number of its own, even for a directory that was set back.
func TestR14_EachOpeningHasALife(t *testing.T) {
	dir := tempDir(t)
	lives := map[uint64]bool{}
	for range 20 {
		l, err := Open(dir, quiet(Options{}))
		must(t, err)
		lives[l.Identity().Life] = true
		must(t, l.Close())
	}
	if len(lives) != 20 || lives[0] {
		t.Fatalf("%d lives", len(lives))
	}
}

// TestR14_ARepairedLogSaysSo: a repaired log reports the repair until it is retired.
func TestR14_ARepairedLogSaysSo(t *testing.T) {
	dir, _ := smallLog(t)
	segs := segmentsOf(t, dir)
	flip(t, segmentFile(dir, segs[0].scan.first), int(segs[0].scan.end)/2)
	if _, err := Repair(dir); err != nil {
		t.Fatal(err)
	}
	for want := true; ; want = false {
		l, err := Open(dir, quiet(Options{SegmentSize: smallSegment}))
		must(t, err)
		if l.Repaired() != want {
			t.Fatalf("repaired is %v", !want)
		}
		if want {
			must(t, l.Retire(nil))
		}
		must(t, l.Close())
		if !want {
			return
		}
	}
}

// TestR14_AFormerVersionIsRefusedInWords: the error says what to do, and the log stays as it is.
func TestR14_AFormerVersionIsRefusedInWords(t *testing.T) {
	dir, _ := smallLog(t)
	name := filepath.Join(dir, headName)
	b, err := os.ReadFile(name)
	must(t, err)
	copy(b, formerMagic)
	copy(b[sector:], formerMagic)
	must(t, os.WriteFile(name, b, filePerm))
	_, err = Open(dir, quiet(Options{}))
	wantCorruption(t, "version 1", err, headName)
	if _, err := Repair(dir); err == nil {
		t.Fatal("it is repaired to death")
	}
	if after, _ := os.ReadFile(name); string(after) != string(b) {
		t.Fatal("it was changed")
	}
}
