package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"posta.dev/posta/internal/cgroup"
	"posta.dev/posta/test/await"
)

// TestASmallQuestionCollectsNoGarbage: the first collection is behind its answer.
func TestASmallQuestionCollectsNoGarbage(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "few.csv"), []byte("name,number\nfew,421\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	collections := func(percent string) int {
		c := exec.Command(self, "sql", "--data", dir, "--in-process", "64MiB", "SELECT sum(number) FROM few")
		c.Env = append(os.Environ(), selfVar+"=1", "GODEBUG=gctrace=1", "GOGC="+percent)
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "421") {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.Count(string(out), "% cpu, ") + strings.Count("\n"+string(out), "\ngc ")
	}
	if n := collections(""); n != 0 {
		t.Errorf("%d collections", n)
	}
	if n := collections("10"); n == 0 {
		t.Error("GOGC has no effect")
	}
}

// TestGarbageIsCollectedAsUsualLater: the delay ends with the first collection.
func TestGarbageIsCollectedAsUsualLater(t *testing.T) {
	t.Setenv("GOGC", "")
	was := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(was) })
	collectLater()
	if percent := debug.SetGCPercent(firstGarbage); percent != firstGarbage {
		t.Errorf("GOGC is %d at first", percent)
	}
	await.Until(t, "GOGC is as usual", func() bool {
		runtime.GC()
		percent := debug.SetGCPercent(100)
		if percent != 100 {
			debug.SetGCPercent(percent)
		}
		return percent == 100
	})
}

// TestACommandKeepsToItsControlGroup: garbage is collected before it takes what the group allows.
func TestACommandKeepsToItsControlGroup(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	memory, limit := cgroup.Memory, debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		cgroup.Memory = memory
		debug.SetMemoryLimit(limit)
	})
	cgroup.Memory = func() (int64, bool) { return 0, false }
	boundMemory()
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("without a group: %d", got)
	}
	cgroup.Memory = func() (int64, bool) { return 4 << 30, false }
	boundMemory()
	if got := debug.SetMemoryLimit(-1); got != 3<<30 {
		t.Errorf("in a group: %d", got)
	}
}
