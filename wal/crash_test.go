package wal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// stepsOf runs the whole script on a disk without faults, and checks that it does all that it is meant to do.
func stepsOf(t *testing.T, writer Writer) []string {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{Writer: writer}))
	must(t, w.script())
	all := strings.Join(d.steps, "\n")
	for _, want := range []string{"mkdir segments", "fsync head.tmp", "rename head", "writeat head", "rename snapshots", "remove segments", "remove snapshots", "-000001.snapshot"} {
		if !strings.Contains(all, want) {
			t.Fatalf("the script never does %q:\n%s", want, all)
		}
	}
	return d.steps
}

// TestW3_CrashAtEveryStep crashes a life that opens, appends, rotates, cuts and snapshots after every single step, loses,
// keeps or tears what was not synced, and recovers twice.
func TestW3_CrashAtEveryStep(t *testing.T) {
	bothWriters(t, func(t *testing.T, writer Writer) {
		steps := stepsOf(t, writer)
		for k := 1; k <= len(steps); k++ {
			for o := range outcomes {
				seeds := int64(1)
				if o == torn {
					seeds = 2
				}
				for seed := range seeds {
					label := fmt.Sprintf("crash after step %d (%s), unsynced %s, seed %d", k, steps[k-1], o, seed)
					crashOnce(t, writer, k, o, seed, label)
				}
			}
		}
	})
}

func crashOnce(t *testing.T, writer Writer, k int, o outcome, seed int64, label string) {
	t.Helper()
	d := newDisk(t, tempDir(t))
	d.crashAt = k
	w := newWorld(t, d.root, d.options(Options{Writer: writer}))
	if err := w.script(); err != nil && !errors.Is(err, errCrash) {
		t.Fatalf("%s: %v", label, err)
	}
	w.abandon()
	image := d.crash(o, seed*1000+int64(k))
	w.recovered(image, label)
	os.RemoveAll(image)
	os.RemoveAll(d.root)
}

// tempDir makes one of very many directories. t.TempDir would keep them all until the test ends; and where there is a file
// system in memory it is used, because what survives is decided by disk, not by real fsyncs.
func tempDir(t *testing.T) string {
	parent := "/dev/shm"
	if s, err := os.Stat(parent); err != nil || !s.IsDir() {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "posta-wal-")
	if err != nil {
		dir, err = os.MkdirTemp("", "posta-wal-")
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, err)
	return dir
}

// TestW3_ProcessDiesThenMachine kills only the process after every step, so that the next one sees what was written and
// never synced. What it has seen and acted upon must survive a crash of the machine: after every step of its
// recovery, and after it.
func TestW3_ProcessDiesThenMachine(t *testing.T) {
	bothWriters(t, func(t *testing.T, writer Writer) {
		steps := stepsOf(t, writer)
		for k := 1; k <= len(steps); k++ {
			for j, done := 1+k%3, false; !done; j += 3 { // every step of recovery comes up, with other steps before it
				done = processThenMachine(t, writer, k, j, steps[k-1])
			}
		}
	})
}

// processThenMachine returns true when the recovery was over before its step j.
func processThenMachine(t *testing.T, writer Writer, k, j int, step string) (done bool) {
	label := fmt.Sprintf("process dies after step %d (%s), machine after step %d of recovery", k, step, j)
	d := newDisk(t, tempDir(t))
	defer os.RemoveAll(d.root)
	d.crashAt = k
	w := newWorld(t, d.root, d.options(Options{Writer: writer}))
	if err := w.script(); err != nil && !errors.Is(err, errCrash) {
		t.Fatalf("%s: %v", label, err)
	}
	w.abandon()
	d.crashAt = k + j
	err := w.open()
	if err != nil && !errors.Is(err, errCrash) {
		t.Fatalf("%s: %v", label, err)
	}
	if err == nil {
		w.check(label)
		w.log.lock.Close() // killed, without a last fsync
		w.log = nil
	}
	image := d.crash(lost, 0)
	defer os.RemoveAll(image)
	w.recovered(image, label)
	return err == nil
}

// TestW2_CrashDuringRecovery tears the disk, then crashes the recovery of that after every step of it, and tears again.
func TestW2_CrashDuringRecovery(t *testing.T) {
	bothWriters(t, func(t *testing.T, writer Writer) {
		steps := stepsOf(t, writer)
		for k := 1; k <= len(steps); k += 3 {
			d := newDisk(t, tempDir(t))
			d.crashAt = k
			w := newWorld(t, d.root, d.options(Options{Writer: writer}))
			if err := w.script(); err != nil && !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			w.abandon()
			for j := 1; ; j++ {
				image := d.crash(torn, int64(k))
				again := newDisk(t, image)
				again.crashAt = j
				v := *w
				v.dir, v.opts = image, again.options(Options{Writer: writer, SegmentSize: smallSegment, Logger: w.opts.Logger})
				err := v.open()
				v.abandon()
				if err != nil && !errors.Is(err, errCrash) {
					t.Fatalf("step %d, recovery step %d: %v", k, j, err)
				}
				second := again.crash(torn, int64(j))
				v.recovered(second, fmt.Sprintf("crash after step %d, recovery crashed after %d of %d", k, j, len(again.steps)))
				os.RemoveAll(image)
				os.RemoveAll(second)
				if err == nil {
					break
				}
			}
			os.RemoveAll(d.root)
		}
	})
}
