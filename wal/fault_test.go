package wal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestW5_NoRoomAtEveryStep lets every step in turn find no room, half of a write done. There is room again at the next
// call: it must succeed, and nothing may be there twice or half. At an fsync it is final all the same (W4).
func TestW5_NoRoomAtEveryStep(t *testing.T) {
	failEveryStep(t, errNoSpace, func(t *testing.T, w *world, d *disk, label string, err error) {
		sync := strings.HasPrefix(d.failed, "fsync") || strings.HasPrefix(d.failed, "syncdir") || strings.HasPrefix(d.failed, "close")
		if !sync && (err != nil || w.retries == 0) {
			t.Fatalf("%s: no room must not end the log: %v (retries %d)", label, err, w.retries)
		}
		if sync && err == nil && !strings.HasPrefix(d.failed, "close") {
			t.Fatalf("%s: a failed fsync was survived", label)
		}
	})
}

// TestW4_IOErrorAtEveryStep lets every step in turn fail for good: a write error, a short write, a failed fsync, a
// failed rename. The log must say so, stay failed, and come back right.
func TestW4_IOErrorAtEveryStep(t *testing.T) {
	failEveryStep(t, errIO, func(t *testing.T, w *world, d *disk, label string, err error) {
		// The best-effort pid and temporary files aside, every step counts.
		if err == nil {
			t.Fatalf("%s: the error was swallowed", label)
		}
		if !errors.Is(err, errIO) {
			t.Fatalf("%s: the cause is lost: %v", label, err)
		}
		if w.retries > 0 {
			t.Fatalf("%s: taken for a full disk: %v", label, err)
		}
	})
}

func failEveryStep(t *testing.T, with error, judge func(*testing.T, *world, *disk, string, error)) {
	bothWriters(t, func(t *testing.T, writer Writer) {
		steps := stepsOf(t, writer)
		for k := 1; k <= len(steps); k++ {
			label := fmt.Sprintf("%v at step %d (%s)", with, k, steps[k-1])
			d := newDisk(t, tempDir(t))
			d.failAt, d.failWith = k, with
			w := newWorld(t, d.root, d.options(Options{Writer: writer}))
			err := w.script()
			judge(t, w, d, label, err)
			if err != nil {
				wantFinal(t, w, label, err)
			}
			w.abandon()
			image := d.crash(kept, 0)
			w.recovered(image, label)
			os.RemoveAll(image)
			os.RemoveAll(d.root)
		}
	})
}

// wantFinal: after a failure of a log that is open, nothing that writes works any more, and says why.
func wantFinal(t *testing.T, w *world, label string, cause error) {
	t.Helper()
	if w.log == nil {
		return // Open or Close failed
	}
	if !errors.Is(cause, ErrFailed) && !errors.Is(cause, ErrClosed) {
		t.Fatalf("%s: want ErrFailed, got %v", label, cause)
	}
	if _, err := w.log.Append(Record{Parts: [][]byte{{1}}}); !errors.Is(err, ErrFailed) || !errors.Is(err, errIO) && !errors.Is(err, errNoSpace) {
		t.Fatalf("%s: append after the failure: %v", label, err)
	}
	if err := w.log.Cut(1); !errors.Is(err, ErrFailed) {
		t.Fatalf("%s: cut after the failure: %v", label, err)
	}
	if err := w.log.SaveSnapshot(w.log.Last()); !errors.Is(err, ErrFailed) {
		t.Fatalf("%s: snapshot after the failure: %v", label, err)
	}
}

// TestW5_LongTimeWithoutRoom: the disk stays full for many attempts, each leaving the log as it was; reading goes on.
func TestW5_LongTimeWithoutRoom(t *testing.T) {
	bothWriters(t, func(t *testing.T, writer Writer) {
		d := newDisk(t, tempDir(t))
		w := newWorld(t, d.root, d.options(Options{Writer: writer}))
		must(t, w.open())
		must(t, w.append(5, "before"))
		size := w.log.Size()
		for range 20 {
			// With step 1 of the append the writer may have to be opened, so that it is the write that fails.
			must(t, w.log.openTailLocked())
			d.failAt, d.failWith = len(d.steps)+1, errNoSpace
			if _, err := w.log.Append(Record{Type: 1, Parts: [][]byte{make([]byte, 100)}}); !errors.Is(err, ErrDiskFull) {
				t.Fatalf("want ErrDiskFull, got %v", err)
			}
			if !strings.HasPrefix(d.failed, "write ") {
				t.Fatalf("the step that failed is %s", d.failed)
			}
			if w.log.Size() != size {
				t.Fatalf("size %d, want %d", w.log.Size(), size)
			}
			w.check("full disk")
		}
		must(t, w.append(5, "room again"))
		w.check("room again")
		must(t, w.close())
		w.recovered(d.crash(lost, 0), "after a long time without room")
	})
}

// TestW5_CutWorksOnFullDisk: dropping segments needs no room, or a full disk would stay full.
func TestW5_CutWorksOnFullDisk(t *testing.T) {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{}))
	must(t, w.open())
	must(t, w.append(100, "much"))
	for range 10 {
		must(t, w.append(20, "more"))
	}
	before := len(d.steps)
	must(t, w.cut(w.log.Last()-1))
	if w.log.First() == 1 {
		t.Fatal("nothing was cut")
	}
	for _, s := range d.steps[before:] {
		if op, _, _ := strings.Cut(s, " "); op != "writeat" && op != "fsync" && op != "remove" && op != "syncdir" {
			t.Errorf("cut needs room for %q", s)
		}
	}
	must(t, w.close())
}

// TestW5_NoRoomToRotate: the segment that a failed rotation made has the wrong name for any other Append, and must be gone
// for good before one succeeds.
func TestW5_NoRoomToRotate(t *testing.T) {
	bothWriters(t, func(t *testing.T, writer Writer) {
		for k := 1; ; k++ {
			d := newDisk(t, tempDir(t))
			w := newWorld(t, d.root, d.options(Options{Writer: writer}))
			must(t, w.open())
			must(t, w.append(3, "before"))
			d.failAt, d.failWith = len(d.steps)+k, errNoSpace
			big := make([]Record, 30)
			for i := range big {
				big[i] = Record{Type: 1, Parts: [][]byte{make([]byte, 40)}}
			}
			if _, err := w.log.Append(big...); err == nil || errors.Is(err, ErrFailed) {
				w.abandon()
				if k > 6 {
					return // the failure came too late to matter
				}
				continue // an fsync
			} else if !errors.Is(err, ErrDiskFull) {
				t.Fatal(err)
			}
			label := "no room for " + d.failed
			for range 30 { // beyond where the next segment would have been, with other numbers of records
				must(t, w.append(2, "after"))
			}
			w.check(label)
			w.abandon()
			w.recovered(d.crash(lost, 0), label)
		}
	})
}
