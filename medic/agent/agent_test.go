package agent

import (
	"context"
	"log/slog"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/test/await"
	"posta.dev/posta/wal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func log(t *testing.T, dir string) *wal.Log {
	t.Helper()
	l, err := wal.Open(dir, wal.Options{SegmentSize: 1 << 20, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The next incarnation begins with what was stored, also after snapshots and cuts of the log.
func TestM3_TheLogGivesTermAndJournalBack(t *testing.T) {
	dir := t.TempDir()
	l := log(t, dir)
	var want core.State
	give := func(j job) {
		if err := (&storage{log: l}).store(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	for n := range uint64(20) {
		term := core.Term{Gen: core.Generation(n + 1), Leader: "medic-1"}
		e := core.Entry{EntryID: core.EntryID{Term: term, N: 1}, At: time.Unix(int64(n), 0), Kind: core.Elected}
		give(job{records: []core.Record{{Term: &term}, {Entry: &e}}})
		want.Term, want.Journal = term, append(want.Journal, e)
		if n == 10 {
			c := core.New(core.Config{Self: "medic-1", Medics: []core.Member{{ID: "medic-1"}}}, want, time.Now())
			give(job{snapshot: c.Snapshot()})
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = log(t, dir)
	defer func() { _ = l.Close() }()
	got, err := restore(l)
	if err != nil || got.Term != want.Term || len(got.Journal) != len(want.Journal) {
		t.Fatalf("%v: term %v with %d entries, want %v with %d", err, got.Term, len(got.Journal), want.Term, len(want.Journal))
	}
	for i := range got.Journal {
		if !got.Journal[i].At.Equal(want.Journal[i].At) || !reflect.DeepEqual(got.Journal[i].EntryID, want.Journal[i].EntryID) {
			t.Fatalf("entry %d is %+v, was %+v", i, got.Journal[i], want.Journal[i])
		}
	}
}

func TestALogThatIsNoMedicsIsRefused(t *testing.T) {
	l := log(t, filepath.Join(t.TempDir(), "x"))
	defer func() { _ = l.Close() }()
	if _, err := l.Append(wal.Record{Type: 9, Parts: [][]byte{[]byte("?")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(l); err == nil {
		t.Error("a record of another type was ignored")
	}
}

// pids is the processes of nodes, as a host reports them.
type pids struct{ now, looks atomic.Int64 }

func (p *pids) Pid(core.NodeID) (int, error) {
	defer p.looks.Add(1)
	return int(p.now.Load()), nil
}

func TestEndsOfProcessesAreReportedUntilTheNextEvent(t *testing.T) {
	p := &pids{}
	p.now.Store(7)
	ends, done := make(chan []processEnd), make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	go func() { defer close(done); watchProcesses(ctx, p, []core.NodeID{"a-1"}, time.Millisecond, ends) }()
	defer func() { stop(); <-done }()
	await.Until(t, "process 7 has been seen", func() bool { return p.looks.Load() > 0 })
	select {
	case e := <-ends:
		t.Fatalf("nothing has happened, and it tells %v", e)
	case <-time.After(4 * lookEvery):
	}
	p.now.Store(8)
	if e := <-ends; e[0] != (processEnd{"a-1", 7}) {
		t.Fatalf("a successor: %v", e)
	}
	p.now.Store(0)
	for i, want := range []int{8, 0, 0} {
		if e := <-ends; e[0] != (processEnd{"a-1", want}) {
			t.Fatalf("telling %d of the end is %v", i+1, e)
		}
	}
	p.now.Store(9)
	for told, quiet := 0, false; !quiet; {
		select {
		case e := <-ends: // one that was under way
			if e[0].pid == 9 {
				t.Fatalf("the living one has ended: %v", e)
			}
			if told++; told > 10 {
				t.Fatal("it continues telling")
			}
		case <-time.After(4 * lookEvery):
			quiet = true
		}
	}
}

// watcher is a Restarter that is told about ends.
type watcher struct {
	medic.Restarter
	pids
	watched, ended chan struct{}
}

func (w *watcher) Watch(ctx context.Context) {
	close(w.watched)
	<-ctx.Done()
	close(w.ended)
}

func (w *watcher) Seen() medic.Pids { return &w.pids }

func TestAWatcherWatchesAsLongAsTheAgentRuns(t *testing.T) {
	w := &watcher{watched: make(chan struct{}), ended: make(chan struct{})}
	a := &agent{cfg: Config{Restarter: w}}
	a.life, a.end = context.WithCancel(context.Background())
	if a.pids() != w.Seen() {
		t.Error("each look would ask the restarter itself")
	}
	<-w.watched
	a.stop()
	<-w.ended
}
