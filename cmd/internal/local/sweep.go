package local

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"posta.dev/posta/internal/owned"
)

// KeptRuns is how many temporary directories of failed runs stay for people to look at (R16). The next run removes older ones.
const KeptRuns = 5

const (
	runPrefix  = "posta-run-"
	failedFile = "failed" // marks the directory of a failed run; the directory of a run with --keep does not have it
)

// MarkFailed marks a temporary directory that is kept because its run failed. A later run may remove it.
func (s *RunDir) MarkFailed() error {
	if !s.temporary {
		return nil
	}
	return owned.Write(filepath.Join(s.Dir, failedFile), "a later run of posta removes this directory\n", false)
}

// sweep removes the directories of failed runs, except the newest ones. Directories that it cannot remove stay: those of other users, or one that another
// run is removing at the same moment.
func sweep() {
	marks, err := filepath.Glob(filepath.Join(os.TempDir(), runPrefix+"*", failedFile))
	if err != nil {
		return
	}
	type run struct {
		dir string
		at  time.Time
	}
	var failed []run
	for _, m := range marks {
		// Other users may make directories with such names here, and put links to this user's files into them.
		if owned.Check(filepath.Dir(m)) != nil {
			continue
		}
		if info, err := os.Lstat(m); err == nil && info.Mode().IsRegular() {
			failed = append(failed, run{filepath.Dir(m), info.ModTime()})
		}
	}
	slices.SortFunc(failed, func(a, b run) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.dir, b.dir)) })
	for _, r := range failed[min(KeptRuns, len(failed)):] {
		if lock, err := TakeLock(filepath.Join(r.dir, "run.lock")); err == nil { // no process uses it
			_ = os.RemoveAll(r.dir)
			_ = lock.Release()
		}
	}
}
