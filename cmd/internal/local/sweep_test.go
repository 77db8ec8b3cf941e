package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestR16_DirectoriesOfFailedRunsAreSwept: the newest few stay, and whatever somebody asked for or works in stays, too.
func TestR16_DirectoriesOfFailedRunsAreSwept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	asked := newRunDir(t, RunDirConfig{})
	var all []*RunDir
	for i := range KeptRuns + 3 {
		s := newRunDir(t, RunDirConfig{})
		if err := s.MarkFailed(); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(filepath.Join(s.Dir, failedFile), at, at); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for _, s := range all[1:] { // the first is still in use
		if err := s.Close(false); err != nil {
			t.Fatal(err)
		}
	}
	if err := asked.Close(false); err != nil {
		t.Fatal(err)
	}
	last := newRunDir(t, RunDirConfig{})
	for i, s := range all {
		if want := i == 0 || i >= 3; exists(s.Dir) != want {
			t.Errorf("directory %d is there: %v", i, !want)
		}
	}
	if !exists(asked.Dir) || !exists(last.Dir) {
		t.Error("a directory that is no failed run's is gone")
	}
	for _, s := range []*RunDir{all[0], last} {
		if err := s.Close(true); err != nil {
			t.Error(err)
		}
	}
}
