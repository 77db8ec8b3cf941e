package medics

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/soak"
	"posta.dev/posta/topology"
)

// TestSessionsLeaveNothing: after many sessions, one after the other and then many at once, each process has as many files and goroutines
// as before, nearly as much memory, and a log that is cut. -sessions 1000 is the full length; 64 at once belong to it.
func TestSessionsLeaveNothing(t *testing.T) {
	row, atOnce := 60, 16
	if *manySessions > 0 {
		row, atOnce = *manySessions, 64
	}
	data := t.TempDir()
	jobs := soakJobs(t, data)
	c := newCluster(t, t.TempDir(), topology.Variant{Roots: []string{data},
		Settings: map[string]string{"limits.segment": "1MiB", "limits.snapshot": "1MiB"}})
	c.serveMetrics()
	c.up()
	l := newSoakLoad(t, c)
	run := func(n int) {
		t.Helper()
		if e := l.run(jobs[n%len(jobs)]); e.err != nil {
			t.Fatalf("session %d, %s: %v", n, e.kind, e.err)
		}
	}
	for n := range 3 * len(jobs) { // pools, caches and connections are there
		run(n)
	}
	before := c.settled()
	began := time.Now()
	for n := range row {
		run(n)
	}
	t.Logf("%d sessions in a row in %v", row, time.Since(began).Round(time.Second))
	c.comparedWith(before, "one after the other")

	var all sync.WaitGroup
	failed := make(chan error, atOnce)
	for n := range atOnce {
		all.Add(1)
		go func() {
			defer all.Done()
			if e := l.run(jobs[n%len(jobs)]); e.err != nil {
				failed <- fmt.Errorf("session %d, %s: %w", n, e.kind, e.err)
			}
		}()
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	c.comparedWith(before, fmt.Sprintf("%d at once", atOnce))
}

// settled returns the least that each process holds within some seconds: sessions that have just ended still hold connections.
func (c *cluster) settled() map[topology.NodeID]soak.Process {
	c.t.Helper()
	least := c.holds(nil)
	for range 20 {
		time.Sleep(200 * time.Millisecond)
		for id, p := range c.holds(nil) {
			l := least[id]
			l.Files, l.Goroutines, l.Memory = min(l.Files, p.Files), min(l.Goroutines, p.Goroutines), p.Memory
			least[id] = l
		}
	}
	return least
}

// holds returns what each process holds when the cluster is idle: at most what it held before, if it gets there within a minute.
func (c *cluster) holds(before map[topology.NodeID]soak.Process) map[topology.NodeID]soak.Process {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		now, idle := map[topology.NodeID]soak.Process{}, true
		for _, n := range c.topo.All() {
			p, alive := soak.Look(c.pid(n.ID), c.topo.MetricsAddress(n), n.DataDir)
			idle = idle && alive && p.Goroutines > 0
			if b, ok := before[n.ID]; ok && (p.Files > b.Files || p.Goroutines > b.Goroutines) {
				idle = false
			}
			now[n.ID] = p
		}
		if idle || time.Now().After(end) {
			return now
		}
	}
}

const (
	// mostLog is by how much a log may be longer than before: it is cut after a snapshot, at the end of a segment.
	mostLog = 4 << 20
	// mostGrowth is how much more memory a process may hold in the end: what its largest session needed, and its headroom.
	mostGrowth = 24 << 20
)

func (c *cluster) comparedWith(before map[topology.NodeID]soak.Process, when string) {
	c.t.Helper()
	growth := int64(mostGrowth)
	if raced { // the detector keeps up to eight bytes for each byte that a process has ever used
		growth *= 9
	}
	for id, now := range c.holds(before) {
		was := before[id]
		c.t.Logf("%s, sessions %s: %d → %d kB, %d → %d files, %d → %d goroutines, log %d → %d kB", id, when,
			was.Memory>>10, now.Memory>>10, was.Files, now.Files, was.Goroutines, now.Goroutines, was.Disk>>10, now.Disk>>10)
		if now.PID != was.PID || now.Files > was.Files || now.Goroutines == 0 || now.Goroutines > was.Goroutines ||
			now.Memory > was.Memory+growth || now.Disk > was.Disk+mostLog {
			c.t.Errorf("%s: sessions %s have left something: before %+v, now %+v", id, when, was, now)
		}
	}
}
