package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/internal/owned"
)

// TestR16_DirectoriesOfFailedRunsAreSwept: the newest few that have only logs stay, and so do directories that a user asked for or that are
// in use. Those of killed runs go. Nobody closes the directory of a killed run; the kernel releases its lock.
func TestR16_DirectoriesOfFailedRunsAreSwept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	asked := newRunDir(t, RunDirConfig{})
	made := func(i int) *RunDir {
		s := newRunDir(t, RunDirConfig{})
		at := time.Now().Add(time.Duration(i-100) * time.Minute)
		err := errors.Join(os.Chtimes(filepath.Join(s.Dir, markFile), at, at), os.MkdirAll(filepath.Join(s.Dir, logDir), 0o700),
			os.MkdirAll(filepath.Join(s.Dir, "data", "input-1"), 0o700))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	used, killed := made(0), made(keptRuns+9) // the killed one is the newest
	var failed []*RunDir
	for i := range keptRuns + 2 {
		s := made(i + 1)
		if err := errors.Join(s.Prune(), s.Close(false)); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if e.Name() != logDir && e.Name() != markFile && e.Name() != lockFile {
				t.Errorf("%s is left of a run that has failed", e.Name())
			}
		}
		failed = append(failed, s)
	}
	if err := errors.Join(killed.lock.Release(), asked.Keep(), asked.Prune(), asked.Close(false)); err != nil {
		t.Fatal(err)
	}
	last := newRunDir(t, RunDirConfig{})
	for i, s := range failed {
		if want := i >= 2; exists(s.Dir) != want {
			t.Errorf("the logs of failed run %d are there: %v", i, !want)
		}
	}
	if exists(killed.Dir) {
		t.Error("what a killed run has left is still there")
	}
	if !exists(asked.Dir) || !exists(last.Dir) || !exists(filepath.Join(used.Dir, "data", "input-1")) {
		t.Error("a directory that its user asked for, or that is in use, is gone")
	}
	for _, s := range []*RunDir{used, last} {
		if err := s.Close(true); err != nil {
			t.Error(err)
		}
	}
}

// TestS1_TheSweepTouchesNothingOfOthers: another user can make directories that look like failed runs in the directory
// for temporary files, with a lock that links to a file of this user.
func TestS1_TheSweepTouchesNothingOfOthers(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	victim := filepath.Join(t.TempDir(), "precious")
	if err := errors.Join(os.Chmod(tmp, 0o777|os.ModeSticky), os.WriteFile(victim, []byte("mine"), 0o644)); err != nil {
		t.Fatal(err)
	}
	var traps []string
	for i := range keptRuns + 3 {
		dir := filepath.Join(tmp, fmt.Sprintf("%strap%d", runPrefix, i))
		err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, markFile), nil, 0o600),
			os.Symlink(victim, filepath.Join(dir, "run.lock")))
		if err == nil && os.Geteuid() == 0 {
			err = os.Chown(dir, 65534, -1)
		}
		if err != nil {
			t.Fatal(err)
		}
		traps = append(traps, dir)
	}
	if err := newRunDir(t, RunDirConfig{}).Close(true); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(victim)
	if b, e := os.ReadFile(victim); string(b) != "mine" || e != nil || err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the sweep left %q in a file beside it, %v, %v, %v", b, info, err, e)
	}
	for _, dir := range traps {
		if !exists(dir) {
			t.Errorf("%s was removed", dir)
		}
	}
}

// TestS1_ALockIsTakenBeforeItIsWritten: the text in the lock stays that of its holder.
func TestS1_ALockIsTakenBeforeItIsWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	held, err := TakeLock(name)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(name)
	if err != nil || len(before) == 0 {
		t.Fatalf("the lock has %q, %v", before, err)
	}
	if _, err := TakeLock(name); !errors.Is(err, errLocked) {
		t.Errorf("the second gets %v", err)
	}
	if after, err := os.ReadFile(name); string(after) != string(before) || err != nil {
		t.Errorf("the lock has %q, %v", after, err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestS1_ARunInAnotherUsersDirectoryIsRefused: so is a run in a directory that others can write, or below one.
func TestS1_ARunInAnotherUsersDirectoryIsRefused(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	refused := func(dir, want string) {
		t.Helper()
		if _, err := NewRunDir(RunDirConfig{Dir: dir}); !errors.Is(err, owned.ErrOpen) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "--dir") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	refused(open, "others may write in "+open)
	refused(filepath.Join(open, "below"), "others may write in "+open)
	if left, _ := os.ReadDir(open); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chmod(open, 0o755), os.Chown(open, 65534, -1)); err != nil {
			t.Fatal(err)
		}
		refused(open, "belongs to user 65534")
		refused(filepath.Join(open, "below"), "belongs to user 65534")
	}
	t.Setenv("TMPDIR", open)
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRunDir(RunDirConfig{}); !errors.Is(err, owned.ErrOpen) {
		t.Errorf("with such a directory for temporary files: %v", err)
	}
	if left, _ := os.ReadDir(open); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
