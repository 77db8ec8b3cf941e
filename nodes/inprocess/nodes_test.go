package inprocess_test

import (
	"context"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/client"
	"posta.dev/posta/internal/cgroup"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/nodes/inprocess"
	"posta.dev/posta/protocol"
	"posta.dev/posta/wal"
	"posta.dev/posta/wal/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// panics is bikes with a joiner that panics.
func panics() *analyses.Analysis {
	a := *bikes.New()
	a.Name = "panics"
	a.NewJoiner = func(analyses.Args, analyses.Replica) (analyses.Joiner, error) { panic("no joiner") }
	return &a
}

var errClosed = errors.New("closed by the test")

// diesOnce is a disk on which one write fails, for another reason than a lack of room.
type diesOnce struct {
	*memory.Disk
	dies *atomic.Bool
}

func (d diesOnce) OpenFile(name string, flag int, perm os.FileMode) (wal.File, error) {
	f, err := d.Disk.OpenFile(name, flag, perm)
	return dyingFile{f, d.dies}, err
}

type dyingFile struct {
	wal.File
	dies *atomic.Bool
}

func (f dyingFile) Write(b []byte) (int, error) {
	if f.dies.CompareAndSwap(true, false) {
		return 0, syscall.EIO
	}
	return f.File.Write(b)
}

// run runs an analysis on nodes.
func run(t *testing.T, h *inprocess.Nodes, analysis, dir string) (*client.Answer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ctx, done := h.During(ctx)
	defer done()
	return client.Run(ctx, client.Config{Entries: h.Entries(), Ask: h.Ask(), Analysis: analysis, Dir: dir})
}

// TestChain_AnswersAsACluster: one node gives the answers of several. A role that panics fails its session alone (N6), and a node whose log
// fails is started again and continues.
func TestChain_AnswersAsACluster(t *testing.T) {
	dir := t.TempDir()
	if err := gen.Bikes(gen.OnDisk(dir), 3000, 1); err != nil {
		t.Fatal(err)
	}
	known := analyses.Set{bikes.New(), panics()}
	disk, dies := memory.New(64<<20, t.TempDir()), new(atomic.Bool)
	one, err := inprocess.Chain(inprocess.Config{Known: known, Dirs: []string{dir}, Disk: diesOnce{disk, dies}})
	if err != nil {
		t.Fatal(err)
	}
	several, err := inprocess.Cluster(inprocess.Config{Known: known, Dirs: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := run(t, several, "bikes", dir)
	if err != nil {
		t.Fatal(err)
	}
	same := func(when string) {
		t.Helper()
		got, err := run(t, one, "bikes", dir)
		if err != nil || !reflect.DeepEqual(got.Queries, want.Queries) {
			t.Errorf("%s: %v, %v", when, got, err)
		}
	}
	same("at first")
	if _, err := run(t, one, "panics", dir); !errors.Is(err, protocol.ErrFailed) || !strings.Contains(err.Error(), "no joiner") {
		t.Errorf("a panic: %v", err)
	}
	same("after a panic")
	dies.Store(true)
	same("while the log fails")
	if dies.Load() || one.Ended() {
		t.Error("the log has not failed, or the nodes have ended")
	}
	if err := errors.Join(one.Close(errClosed), several.Close(errClosed), disk.Close()); err != nil {
		t.Error(err)
	}
	if _, err := run(t, one, "bikes", dir); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestUpTo: one node answers all questions where several would have too little memory.
func TestUpTo(t *testing.T) {
	was := cgroup.Memory
	t.Cleanup(func() { cgroup.Memory = was })
	for limit, want := range map[int64]int64{0: 64, 100 << 20: math.MaxInt64, 2 << 30: 64} {
		cgroup.Memory = func() (int64, bool) { return limit, false }
		if got := inprocess.UpTo(64); got != want {
			t.Errorf("within %d: %d", limit, got)
		}
		if got := inprocess.UpTo(0); got != 0 {
			t.Errorf("within %d: %d, though none may be answered by one node", limit, got)
		}
	}
}
