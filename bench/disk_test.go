package bench

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// valueOf returns the value of a measure in the only round.
func valueOf(t *testing.T, c *Case, name string) float64 {
	t.Helper()
	f := figureOf(c, name)
	if f == nil || len(f.Values) != 1 {
		t.Fatalf("%s: no value of %s in %+v", c.Name, name, c.Figures)
	}
	return f.Values[0]
}

// TestDisk_EveryWayIsMeasured: each way makes a file, and removes it.
func TestDisk_EveryWayIsMeasured(t *testing.T) {
	c := Config{Dir: t.TempDir(), Rounds: 1, Cold: true, Amount: 2*piece + 1}
	s, err := measureDisk(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	if diskHints && len(s.Cases) != len(diskWays) {
		t.Errorf("%d ways are measured, there are %d", len(s.Cases), len(diskWays))
	}
	for i := range s.Cases {
		if v := valueOf(t, &s.Cases[i], "file"); v <= 0 {
			t.Errorf("%s: %v MB/s", s.Cases[i].Name, v)
		}
	}
	if left, err := os.ReadDir(c.Dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// TestDisk_EveryWayWritesTheSameBytes: whatever the file held before, and each way ends with the result of a sync.
func TestDisk_EveryWayWritesTheSameBytes(t *testing.T) {
	pool := newPool()
	for _, w := range diskWays {
		f, err := os.Create(filepath.Join(t.TempDir(), "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if !diskHints && w.room == reserved {
			continue
		}
		if err := w.room.make(f, pool[piece:], piece); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		if err := w.put(f, pool[:piece]); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		if b, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(b, pool[:piece]) {
			t.Errorf("%s: the file has %d other bytes, %v", w.name, len(b), err)
		}
	}
	broken := errors.New("the disk is gone")
	s := beginSyncer(func() error { return broken })
	s.start()
	if err := s.await(); !errors.Is(err, broken) {
		t.Errorf("a failed sync is %v", err)
	}
	s.start()
	if err := s.end(); !errors.Is(err, broken) {
		t.Errorf("a failed sync that nobody awaited is %v", err)
	}
}

// TestReopen_ASnapshotBoundsWhatIsRead: after the cut, only the records since the snapshot are read and replayed.
func TestReopen_ASnapshotBoundsWhatIsRead(t *testing.T) {
	c := Config{Dir: t.TempDir(), Rounds: 1, Cold: true, Amount: 8 * piece}
	cases, err := measureReopen(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	const all, since = 8 * piece / reopenRecord, 4 * piece / reopenRecord
	for i, want := range []float64{all, since} {
		if checked, repeated := valueOf(t, &cases[i], "checked"), valueOf(t, &cases[i], "repeated"); checked != want || repeated != want {
			t.Errorf("%s: %v records are checked and %v repeated, want %v", cases[i].Name, checked, repeated, want)
		}
	}
	if left, err := os.ReadDir(c.Dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
