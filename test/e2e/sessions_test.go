package e2e

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// TestSessions_AtOnceAndInARow: four clients at once, then twenty one after the other, on processes that are never restarted.
func TestSessions_AtOnceAndInARow(t *testing.T) {
	d := generated(t, 20_000)
	c := start(t, topology.Variant{})
	b := c.listen()
	ctx := deadline(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			d.check(t, c.analyse(ctx, d.dir, nil))
		}()
	}
	wg.Wait()
	for range 20 {
		d.check(t, c.analyse(ctx, d.dir, nil))
	}
	c.shrinks(b)
	c.noUnexpectedExits()
}

// TestSessions_Busy: two sessions take all places. A third client waits and is admitted, or gets ErrBusy if it does not want to wait.
func TestSessions_Busy(t *testing.T) {
	d := generated(t, 20_000)
	c := start(t, topology.Variant{Replicas: map[string]int{"input": 2},
		Settings: map[string]string{"limits.sessions": "2", "limits.retry_after": "50ms"}})
	ctx := deadline(t)
	g := newGate(10_000)
	first := c.begin(ctx, client.Config{Find: g.through(d.dir), Chunk: 16 << 10})
	second := c.begin(ctx, client.Config{Find: g.through(d.dir), Chunk: 16 << 10})
	_, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: d.dir, NoWait: true})
	if !errors.Is(err, protocol.ErrBusy) {
		t.Errorf("a third session got %v, not busy", err)
	}
	third := make(chan []byte, 1)
	waiting := make(chan struct{})
	var once sync.Once
	go func() {
		third <- c.analyse(ctx, d.dir, func(cfg *client.Config) {
			cfg.OnProgress = func(p client.Progress) {
				if p.State == client.Busy {
					once.Do(func() { close(waiting) })
				}
			}
		})
	}()
	until(t, "the third client waits", func() bool { return closed(waiting) })
	if len(third) > 0 {
		t.Errorf("the third session was not held back")
	}
	close(g.open)
	for _, got := range [][]byte{first.answer(), second.answer(), <-third} {
		d.check(t, got)
	}
	c.noUnexpectedExits()
}

// TestSessions_ClientKilled: a client dies in its upload. Its session is given up, and no node keeps anything of it.
func TestSessions_ClientKilled(t *testing.T) {
	d := generated(t, 60_000)
	c := start(t, topology.Variant{Replicas: map[string]int{"input": 2},
		Settings: map[string]string{"limits.client_timeout": "5s", "limits.retry_after": "100ms"}})
	b := c.listen()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envClient+"="+strings.Join(c.topo.EntryPoints(), " "), envDir+"="+d.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it is dead already, unless the test failed
	// facts stay with one joiner, and their sums are spread over the aggregators
	aggregators := []topology.NodeID{"aggregator-1", "aggregator-2"}
	b.awaitOf(aggregators, "in the middle of facts", func(h beat) bool { return h.Sessions == 1 && h.FramesIn > 20 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed, as intended
	c.shrinks(b)
	d.check(t, c.analyse(deadline(t), d.dir, nil))
	c.noUnexpectedExits()
}

// clientMain is the main function of a slow client process.
func clientMain(entries, dir string) int {
	_, err := client.Run(context.Background(), client.Config{
		Entries: strings.Fields(entries), Analysis: "bikes", Find: slowly(dir, 100<<10), Chunk: 4 << 10,
	})
	if err != nil {
		return 1
	}
	return 0
}

// TestSessions_CancelledFromElsewhere: any client that knows a session's id can cancel it, and the session's own client gets an error.
func TestSessions_CancelledFromElsewhere(t *testing.T) {
	d := generated(t, 20_000)
	c := start(t, topology.Variant{Replicas: map[string]int{"input": 2, "output": 2}})
	b := c.listen()
	ctx := deadline(t)
	r := c.begin(ctx, client.Config{Find: newGate(100_000).through(d.dir), Chunk: 16 << 10})
	until(t, "facts are on their way", func() bool { return r.acked("trips") > 0 })
	c.cancels(ctx, r)
	c.shrinks(b)
	d.check(t, c.analyse(ctx, d.dir, nil))
	c.noUnexpectedExits()
}

// TestSessions_APauseIsNoEnd: while a client pauses in the middle of its facts, no node takes a snapshot, although it
// is idle. It takes one when the session is over.
func TestSessions_APauseIsNoEnd(t *testing.T) {
	d := generated(t, 20_000)
	c := start(t, topology.Variant{})
	b := c.listen()
	g := newGate(100_000)
	r := c.begin(deadline(t), client.Config{Find: g.through(d.dir), Chunk: 16 << 10})
	until(t, "facts are on their way", func() bool { return r.acked("trips") > 0 })
	b.await("in the middle of the session", func(h beat) bool { return h.Sessions == 1 })
	before := c.snapshots()
	time.Sleep(3 * time.Second) // ten times as long as an idle node waits before it writes a snapshot
	if now := c.snapshots(); !maps.Equal(now, before) {
		t.Errorf("snapshots before the pause %v, behind it %v", before, now)
	}
	close(g.open)
	d.check(t, r.answer())
	c.shrinks(b)
	if now := c.snapshots(); maps.Equal(now, before) {
		t.Errorf("no node has a snapshot behind the session, or another one than before it: %v", now)
	}
	c.noUnexpectedExits()
}

// snapshots returns the name of the last snapshot of each node that has one.
func (c *cluster) snapshots() map[topology.NodeID]string {
	c.t.Helper()
	last := map[topology.NodeID]string{}
	for _, n := range c.topo.Nodes() {
		files, err := filepath.Glob(filepath.Join(n.DataDir, "snapshots", "*.snapshot"))
		if err != nil {
			c.t.Fatal(err)
		}
		if len(files) > 0 {
			last[n.ID] = filepath.Base(slices.Max(files))
		}
	}
	return last
}

// TestSessions_ResultsAgain: results that were kept are still available after every node was restarted, with and without a drain.
func TestSessions_ResultsAgain(t *testing.T) {
	d := generated(t, 20_000)
	c := start(t, topology.Variant{Replicas: map[string]int{"output": 2}})
	b := c.listen()
	ctx := deadline(t)
	token := session.NewToken()
	keep := func(id session.ID) func(*client.Config) {
		return func(cfg *client.Config) {
			cfg.Session, cfg.Token, cfg.KeepResults, cfg.Timeout = id, token, true, 500*time.Millisecond
		}
	}
	id := session.New()
	d.check(t, c.analyse(ctx, d.dir, keep(id)))
	d.check(t, c.analyse(ctx, d.dir, keep(id)))
	b.await("up", func(h beat) bool { return h.ID.Incarnation == 1 }) // one that is killed earlier has its first incarnation afterwards
	for _, n := range c.ids() {
		c.signal(n, syscall.SIGKILL)
	}
	d.check(t, c.analyse(ctx, d.dir, keep(id)))
	b.await("up again", func(h beat) bool { return h.State == heartbeat.Running && h.ID.Incarnation == 2 })
	c.terminateAll()
	c.superviseAll()
	d.check(t, c.analyse(ctx, "/nowhere", keep(id)))
	c.noUnexpectedExits()
}

// TestSessions_ResultsExpire: results that no client closes are kept for limits.results_ttl.
func TestSessions_ResultsExpire(t *testing.T) {
	d := generated(t, 20_000)
	c := start(t, topology.Variant{Settings: map[string]string{"limits.results_ttl": "5s", "limits.client_timeout": "5s",
		"limits.retry_after": "100ms"}})
	b := c.listen()
	ctx := deadline(t)
	id, token := session.New(), session.NewToken()
	d.check(t, c.analyse(ctx, d.dir, func(cfg *client.Config) { cfg.Session, cfg.Token, cfg.KeepResults = id, token, true }))
	c.shrinks(b)
	var err error
	until(t, "the results expire", func() bool {
		_, err = client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: d.dir, Session: id, Token: token,
			KeepResults: true})
		return err != nil
	})
	if !errors.Is(err, protocol.ErrExpired) {
		t.Errorf("who asks too late got %v, not expired", err)
	}
	c.noUnexpectedExits()
}

// cancels has another client cancel a session, and waits until its own client has heard of it. A cancel waits for 2 s. A node that stands
// still for longer does not answer in that time, and is told again.
func (c *cluster) cancels(ctx context.Context, r *run) {
	c.t.Helper()
	other, err := client.Dial(ctx, client.Config{Entries: c.topo.Outputs(), Session: r.c.Session(), Force: true})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = other.Close() }() // closing is not what is tested
	await.Within(patience, func() bool {
		err = other.Cancel(ctx)
		return err == nil || !strings.Contains(err.Error(), "no answer within")
	})
	if err != nil {
		c.t.Errorf("cancel: %v", err)
	}
	if err := r.failure(); !errors.Is(err, protocol.ErrCancelled) {
		c.t.Errorf("the cancelled client got %v", err)
	}
}
