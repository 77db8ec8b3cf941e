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
	d := newDisk(t, t.TempDir())
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
					seeds = 3
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

// tempDir makes one of very many directories; t.TempDir would keep them all until the test ends.
func tempDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "posta-wal-")
	must(t, err)
	return dir
}
