package wal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// stepsOf runs the whole script on a disk without faults, and checks that the script does everything it should.
func stepsOf(t *testing.T) []string {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{}))
	must(t, w.script())
	all := strings.Join(d.steps, "\n")
	for _, want := range []string{"mkdir segments", "fsync head.tmp", "rename head", "writeat head", "rename snapshots", "remove segments",
		"remove snapshots", "-000001.snapshot"} {
		if !strings.Contains(all, want) {
			t.Fatalf("the script never does %q:\n%s", want, all)
		}
	}
	return d.steps
}

// everyCrash runs the script once. Before every step it calls f with the disk as a crash at that point would leave it, and with a copy of
// the oracle.
func everyCrash(t *testing.T, f func(d *disk, w *world, label string)) {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{}))
	d.before = func() {
		if n := len(d.steps); n > 0 {
			f(d, w.twin(), fmt.Sprintf("crash after step %d (%s)", n, d.steps[n-1]))
		}
	}
	must(t, w.script())
	d.before()
}

// TestW3_CrashAtEveryStep crashes a life that opens, appends, rotates, cuts and snapshots, after every single step. It loses, keeps or
// tears what was not synced, and recovers twice.
func TestW3_CrashAtEveryStep(t *testing.T) {
	everyCrash(t, func(d *disk, w *world, label string) {
		for o, seeds := range map[outcome]int64{lost: 1, kept: 1, torn: 2} {
			for seed := range seeds {
				image := d.crash(o, seed*1000+int64(len(d.steps)))
				w.twin().recovered(image, fmt.Sprintf("%s, unsynced %s, seed %d", label, o, seed))
				os.RemoveAll(image)
			}
		}
	})
}

// tempDir makes one of very many directories, which t.TempDir would keep until the test ends. It uses a file system in memory if there is
// one: the disk of the test decides what survives, not real fsyncs.
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

// TestW3_ProcessDiesThenMachine kills only the process after every step, so the next process sees what was written and not synced. What
// that process has read and relied on must survive a crash of the machine: after every step of its recovery, and after the recovery.
func TestW3_ProcessDiesThenMachine(t *testing.T) {
	steps := stepsOf(t)
	for k := 1; k <= len(steps); k++ {
		for j, done := 1+k%6, false; !done; j += 6 { // every step of recovery occurs, with different steps before it
			done = processThenMachine(t, k, j, steps[k-1])
		}
	}
}

// processThenMachine returns true if the recovery was complete before its step j.
func processThenMachine(t *testing.T, k, j int, step string) (done bool) {
	label := fmt.Sprintf("process dies after step %d (%s), machine after step %d of recovery", k, step, j)
	d := newDisk(t, tempDir(t))
	defer os.RemoveAll(d.root)
	d.crashAt = k
	w := newWorld(t, d.root, d.options(Options{}))
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
		d.crashAt = 0
		for range 35 { // more than fit into a segment that was made and not used
			must(t, w.append(2, "continues"))
		}
		w.log.lock.Close() // killed, without a last fsync
		w.log = nil
	}
	image := d.crash(lost, 0)
	defer os.RemoveAll(image)
	w.recovered(image, label)
	return err == nil
}

// TestW2_CrashDuringRecovery tears the disk, crashes the recovery after every step of it, and tears the disk again.
func TestW2_CrashDuringRecovery(t *testing.T) {
	everyCrash(t, func(d *disk, w *world, label string) {
		if seed := int64(len(d.steps)); seed%5 == 0 {
			image := d.crash(torn, seed)
			crashRecovery(t, image, w, label)
			os.RemoveAll(image)
		}
	})
}

func crashRecovery(t *testing.T, image string, w *world, label string) {
	d := newDisk(t, image)
	v := w.twin()
	v.dir, v.opts = image, d.options(quiet(Options{SegmentSize: smallSegment}))
	d.before = func() {
		second := d.crash(torn, int64(len(d.steps)))
		v.twin().recovered(second, fmt.Sprintf("%s, recovery crashed after step %d", label, len(d.steps)))
		os.RemoveAll(second)
	}
	if err := v.open(); err != nil {
		t.Fatalf("%s: %v", label, err)
	}
	d.before()
	d.before = nil
	v.abandon()
}
