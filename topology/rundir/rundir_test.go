package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newRunDir(t *testing.T, p RunDirConfig) *RunDir {
	t.Helper()
	s, err := NewRunDir(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestATemporarySiteIsRemovedAndAGivenOneIsNot(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	temporary, given := newRunDir(t, RunDirConfig{}), newRunDir(t, RunDirConfig{Dir: filepath.Join(t.TempDir(), "new", "dir")})
	for _, s := range []*RunDir{temporary, given} {
		if s.Topology.DataDir != filepath.Join(s.Dir, "cluster") {
			t.Errorf("data is in %s, the run directory in %s", s.Topology.DataDir, s.Dir)
		}
		if err := s.Close(true); err != nil {
			t.Fatal(err)
		}
	}
	if exists(temporary.Dir) || !exists(filepath.Join(given.Dir, "topology.toml")) {
		t.Errorf("temporary is there: %v; given is there: %v", exists(temporary.Dir), exists(given.Dir))
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	kept := newRunDir(t, RunDirConfig{})
	if err := kept.Close(false); err != nil || !exists(kept.Dir) {
		t.Errorf("a run directory to be kept: %v, there: %v", err, exists(kept.Dir))
	}
}

// TestSocketsHaveShortPathsWhereverTheSiteIs: the path of a unix socket has at most 103 bytes, and some TMPDIRs are long.
func TestSocketsHaveShortPathsWhereverTheSiteIs(t *testing.T) {
	for _, depth := range []int{1, 8} {
		dir := filepath.Join(t.TempDir(), strings.Repeat("a-long-name/", depth))
		s := newRunDir(t, RunDirConfig{Dir: dir, Variant: topology.Variant{Replicas: map[string]int{"aggregator": 10}}})
		var sockets []string
		for _, n := range s.Topology.Nodes() {
			for _, e := range n.Sockets.List() {
				sockets = append(sockets, strings.TrimPrefix(e.Bind, "ipc://"))
			}
		}
		for _, path := range sockets {
			if len(path) > 103 {
				t.Errorf("%d bytes: %s", len(path), path)
			}
		}
		sock := filepath.Dir(sockets[0])
		if !exists(sock) {
			t.Errorf("%s is not there", sock)
		}
		if err := s.Close(true); err != nil {
			t.Error(err)
		}
		if below := strings.HasPrefix(sock, s.Dir); !below && exists(sock) {
			t.Errorf("%s was made beside the run directory and is left behind", sock)
		}
	}
}

func TestASiteIsForOneAtATime(t *testing.T) {
	dir := t.TempDir()
	first := newRunDir(t, RunDirConfig{Dir: dir})
	if _, err := NewRunDir(RunDirConfig{Dir: dir}); !errors.Is(err, errLocked) || !strings.Contains(err.Error(), "run.lock") {
		t.Errorf("a second one gets %v", err)
	}
	if err := first.Close(true); err != nil {
		t.Fatal(err)
	}
	if err := newRunDir(t, RunDirConfig{Dir: dir}).Close(true); err != nil {
		t.Fatal(err)
	}
}

func TestACopiedTopologyKeepsItsDataBelowTheSite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.toml")
	text, err := topology.Generate(topology.Variant{Name: "mine", Dir: "some/data"})
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := newRunDir(t, RunDirConfig{Dir: t.TempDir(), File: file})
	defer func() { _ = s.Close(true) }()
	if want := filepath.Join(s.Dir, "some", "data"); s.Topology.DataDir != want || s.Topology.Name != "mine" {
		t.Errorf("%s has its data in %s, want %s", s.Topology.Name, s.Topology.DataDir, want)
	}
}

func TestMistakesAreFoundInTheUsersFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(file, []byte("[cluster]\nnme = \"x\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := NewRunDir(RunDirConfig{File: file})
	var mistakes topology.Errors
	if !errors.As(err, &mistakes) || mistakes[0].File != file {
		t.Errorf("the error is %v", err)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTCPSitesTakePortsThatAreFree(t *testing.T) {
	s := newRunDir(t, RunDirConfig{Dir: t.TempDir(), TCP: true})
	defer func() { _ = s.Close(true) }()
	port := s.Topology.Hosts[0].Ports
	if port < freeports.First || port >= freeports.Last || s.Topology.Hosts[0].IPC() {
		t.Errorf("ports from %d", port)
	}
}

func TestLockNamesItsHolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := TakeLock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TakeLock(name); !errors.Is(err, errLocked) || !strings.Contains(err.Error(), ", ") {
		t.Errorf("the second gets %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := TakeLock(name)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Release()
}
