package local

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"posta.dev/posta/internal/owned"
)

// KeptRuns is how many temporary directories of runs that failed or were killed stay for people to look at (R16). The next run removes older ones.
const KeptRuns = 5

const (
	runPrefix = "posta-run-"
	// markFile marks a temporary directory that a later run may remove when no process has its lock any more. A run makes it before anything else, so that
	// the directory of a run that was killed has it, too.
	markFile = "temporary"
)

func (s *RunDir) mark() error {
	return owned.Write(filepath.Join(s.Dir, markFile), "a later run of posta removes this directory\n", false)
}

// Keep makes a temporary directory stay for as long as its user wants.
func (s *RunDir) Keep() error {
	if !s.temporary {
		return nil
	}
	return os.Remove(filepath.Join(s.Dir, markFile))
}

// sweep removes the directories of runs that failed or were killed, except the newest ones. Directories that it cannot remove stay: those of other users, or
// one that another run is removing at the same moment.
func sweep() {
	marks, err := filepath.Glob(filepath.Join(os.TempDir(), runPrefix+"*", markFile))
	if err != nil {
		return
	}
	type run struct {
		dir string
		at  time.Time
	}
	var marked []run
	for _, m := range marks {
		// Other users may make directories with such names here, and put links to this user's files into them.
		if owned.Check(filepath.Dir(m)) != nil {
			continue
		}
		if info, err := os.Lstat(m); err == nil && info.Mode().IsRegular() {
			marked = append(marked, run{filepath.Dir(m), info.ModTime()})
		}
	}
	slices.SortFunc(marked, func(a, b run) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.dir, b.dir)) })
	for _, r := range marked[min(KeptRuns, len(marked)):] {
		if lock, err := TakeLock(filepath.Join(r.dir, "run.lock")); err == nil { // no process uses it
			_ = os.RemoveAll(r.dir)
			_ = lock.Release()
		}
	}
}
