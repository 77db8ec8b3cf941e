package rundir

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"posta.dev/posta/internal/owned"
)

// keptRuns is how many temporary directories with logs of runs that failed stay for people to look at (R16). The next run removes older
// ones.
const keptRuns = 5

const (
	runPrefix = "posta-run-"
	// markFile marks a temporary directory that a later run may remove when no process has its lock any more. A run makes it before anything
	// else, so that the directory of a run that was killed has it, too.
	markFile = "temporary"
	lockFile = "run.lock"
	// topologyFile is in the directory of a run that goes on, or was killed. One that has failed has removed it with all but the logs.
	topologyFile = "topology.toml"
	logDir       = "log"
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

// prune removes all from the directory of a run but its logs, and what marks the directory.
func prune(dir string) error {
	all, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range all {
		if name := e.Name(); name != logDir && name != markFile && name != lockFile {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}

// sweep removes the directories of runs that were killed, and those of runs that failed, except the newest ones. The lock tells which runs
// go on. Directories that it cannot remove stay: those of other users, or one that another run is removing at the same moment.
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
	kept := 0
	for _, r := range marked {
		if _, err := os.Lstat(filepath.Join(r.dir, topologyFile)); err != nil {
			if kept++; kept <= keptRuns {
				continue
			}
		}
		if lock, err := TakeLock(filepath.Join(r.dir, lockFile)); err == nil { // no process uses it
			_ = os.RemoveAll(r.dir)
			_ = lock.Release()
		}
	}
}
