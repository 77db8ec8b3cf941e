package nodes

import (
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/internal/watch"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// mouth is a transport that hands the heartbeats to the test.
type mouth struct {
	link.Transport
	said chan heartbeat.Beat // the newest heartbeat
}

func (m mouth) Heartbeat(b, _ []byte) {
	beat, err := heartbeat.Decode(b)
	if err != nil {
		panic(err)
	}
	select {
	case <-m.said:
	default:
	}
	m.said <- beat
}

// await waits for a heartbeat that ok accepts.
func (m mouth) await(t *testing.T, what string, ok func(heartbeat.Beat) bool) (b heartbeat.Beat) {
	t.Helper()
	for deadline := time.After(time.Minute); ; {
		select {
		case b = <-m.said:
			if ok(b) {
				return b
			}
		case <-deadline:
			t.Fatalf("it is never %s; last it said %+v", what, b)
		}
	}
}

// beating returns a node that does nothing but send heartbeats.
func beating(t *testing.T, stuckAfter time.Duration, exit func(int)) (*node, mouth) {
	t.Helper()
	log, err := wal.Open(t.TempDir(), wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := mouth{said: make(chan heartbeat.Beat, 1)}
	x := &node{
		cfg: Config{
			Topology: &topology.Topology{Medics: topology.Medics{Heartbeat: 10 * time.Millisecond, StuckAfter: stuckAfter}},
			Log:      slog.New(slog.DiscardHandler), Exit: exit,
		},
		node: topology.Node{ID: "joiner-1", DataDir: t.TempDir()}, log: log, tr: m,
	}
	x.beats = newBeats(x, time.Now())
	x.beats.waiting.Store(false)
	t.Cleanup(func() {
		x.beats.stop()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return x, m
}

// slowLog is a log whose disk is busy until the test releases it.
type slowLog struct {
	shell.Log
	begun, let chan struct{}
}

func (l slowLog) Append(...wal.Record) (wal.Index, error) {
	close(l.begun)
	<-l.let
	return 1, nil
}

// TestN9_ACommitThatTakesLongIsASlowDisk: the node reports a slow disk exactly while a commit has been under way for more than a second. It
// still reports worse trouble in place of that.
func TestN9_ACommitThatTakesLongIsASlowDisk(t *testing.T) {
	x, m := beating(t, time.Hour, nil)
	state := func(s heartbeat.State) func(heartbeat.Beat) bool {
		return func(b heartbeat.Beat) bool { return b.State == s }
	}
	x.beats.publish(heartbeat.Beat{Node: "joiner-1", State: heartbeat.Running})
	m.await(t, "running", state(heartbeat.Running))
	log := slowLog{x.log, make(chan struct{}), make(chan struct{})}
	jobs, answers := make(chan shell.Job, 1), make(chan shell.Answer, 1)
	go committer(log, jobs, answers, x.beats, new(time.Duration))
	begun := time.Now()
	jobs <- shell.Job{Commit: &core.Commit{}}
	<-log.begun
	m.await(t, "slow", state(heartbeat.DiskSlow))
	if after := time.Since(begun); after < diskSlowAfter {
		t.Errorf("its disk is slow after %v", after)
	}
	for said, says := range map[heartbeat.State]heartbeat.State{
		heartbeat.Blocked: heartbeat.DiskSlow, heartbeat.Draining: heartbeat.DiskSlow, heartbeat.DiskFull: heartbeat.DiskFull,
		heartbeat.Retiring: heartbeat.Retiring,
	} {
		x.beats.publish(heartbeat.Beat{Node: "joiner-1", State: said, Commits: uint64(len(said))})
		m.await(t, string(says)+" when it is "+string(said), func(b heartbeat.Beat) bool {
			return b.State == says &&
				b.Commits == uint64(len(said))
		})
	}
	x.beats.publish(heartbeat.Beat{Node: "joiner-1", State: heartbeat.Running})
	close(log.let)
	if a := <-answers; a.Err != nil || !a.Stored {
		t.Fatalf("the commit: %+v", a)
	}
	m.await(t, "running again", state(heartbeat.Running))
	close(jobs)
	<-answers
}

// TestN9_AHungLoopEndsWhateverHappensToItsNote: a node whose loop hangs ends with the exit status that its medic knows, and sends
// heartbeats until then. It does so if it can write its note, if the disk refuses the note, and if the disk hangs, too.
func TestN9_AHungLoopEndsWhateverHappensToItsNote(t *testing.T) {
	id := session.New()
	for name, c := range map[string]struct {
		disk func(note string) error // what prevents the note from being written
		left bool                    // whether the note is on disk afterwards
	}{
		"a good disk":              {func(string) error { return nil }, true},
		"a disk that takes none":   {func(note string) error { return os.Mkdir(note+".new", 0o700) }, false},
		"a directory that is gone": {func(note string) error { return os.Remove(filepath.Dir(note)) }, false},
		"a disk that hangs":        {func(note string) error { return syscall.Mkfifo(note+".new", 0o600) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			exits := make(chan int, 1)
			progress.Mark()
			x, m := beating(t, 200*time.Millisecond, func(code int) { exits <- code })
			x.beats.waiting.Store(true) // until all is as it is to be: the disk may take its time
			note := filepath.Join(x.node.DataDir, "hung")
			if err := c.disk(note); err != nil {
				t.Fatal(err)
			}
			x.beats.publish(heartbeat.Beat{Node: "joiner-1", State: heartbeat.Running})
			x.watch.Enter(watch.Doing{Role: "joiner", Session: id, Stream: "trips"})
			x.beats.waiting.Store(false)
			m.await(t, "hung", func(b heartbeat.Beat) bool { return b.MarkAge >= 200*time.Millisecond && b.Session == id })
			select {
			case code := <-exits:
				if code != 70 {
					t.Errorf("it ends with status %d", code)
				}
			case <-time.After(time.Minute):
				t.Fatal("it never ends")
			}
			if name == "a disk that hangs" {
				wakeFIFO(t, note+".new")
				return
			}
			h, ok, err := postmortem.ReadHung(x.node.DataDir)
			if ok != c.left || err != nil || ok && (h.Session != id.String() || h.Role != "joiner" || h.Stream != "trips") {
				t.Errorf("its note is %+v, %v, %v", h, ok, err)
			}
		})
	}
}

// wakeFIFO ends the open call that waits for a reader.
func wakeFIFO(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the note that could not be synced is removed", func() bool { _, err := os.Stat(path); return os.IsNotExist(err) })
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
