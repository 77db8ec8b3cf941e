package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// TestR12_TheTopologyChangesUnderASession stops all nodes in the middle of a session, changes the topology, and starts all nodes with their
// existing data. The session fails with the reason. It neither gives half an answer nor waits for ever, and the next session is right.
func TestR12_TheTopologyChangesUnderASession(t *testing.T) {
	d := generated(t, 60_000)
	for i, change := range []struct{ from, to map[string]int }{
		{map[string]int{"joiner": 1}, map[string]int{"joiner": 3}},
		{map[string]int{"joiner": 3}, map[string]int{"joiner": 1}},
		{map[string]int{"aggregator": 2}, map[string]int{"aggregator": 3}},
		{map[string]int{"aggregator": 2}, map[string]int{"aggregator": 1}},
		{map[string]int{"input": 1}, map[string]int{"input": 2}},
	} {
		for _, kill := range []bool{false, true} {
			if kill != (i%2 == 0) && !*long {
				continue // the other one of each pair
			}
			t.Run(fmt.Sprint(change.from, change.to, " kill ", kill), func(t *testing.T) {
				t.Parallel()
				v := topology.Variant{Replicas: change.from, Dir: t.TempDir(), IPCDir: temp.Sockets(t)}
				c := start(t, v)
				c.listen().await("up", func(h beat) bool { return h.State == heartbeat.Running })
				ctx := deadline(t)
				g := newGate(800_000 + int64(i)*100_000)
				r := c.begin(ctx, client.Config{Find: g.through(d.dir), Chunk: 16 << 10, Timeout: 500 * time.Millisecond})
				until(t, "facts are everywhere", func() bool { return r.acked("trips") > 500_000 })
				c.stopWith(kill)
				v.Replicas = change.to
				c.rewrite(v)
				c.superviseAll()
				close(g.open)
				r.failsWith("joins stages otherwise")
				d.check(t, c.analyseAgain(ctx, d.dir))

				// The topology is changed back. A node that comes back begins without data: posta up and posta deploy ensure that. Even without them,
				// both ends of its links continue with the numbers that they had, and neither concludes that a log was set back (R2, R14).
				fresh := i%2 == 0
				before := c.topo.Nodes()
				c.stopWith(kill)
				v.Replicas = change.from
				c.rewrite(v)
				for _, n := range c.topo.Nodes() {
					if fresh && !slices.ContainsFunc(before, func(b topology.Node) bool { return b.ID == n.ID }) {
						if err := os.RemoveAll(n.DataDir); err != nil {
							t.Fatal(err)
						}
					}
				}
				c.superviseAll()
				d.check(t, c.analyseAgain(ctx, d.dir))
				c.noUnexpectedExits()
				for _, n := range c.topo.Nodes() {
					if aside, _ := filepath.Glob(filepath.Join(n.DataDir, "retired", "*")); len(aside) > 0 {
						t.Errorf("%s has retired its log, which nobody set back: %v", n.ID, aside)
					}
				}
			})
		}
	}
}

// stopWith ends all nodes, at once or after a drain.
func (c *cluster) stopWith(kill bool) {
	if !kill {
		c.terminateAll()
		return
	}
	ids := c.ids()
	c.mu.Lock()
	for _, id := range ids {
		c.stopping[id] = true
		_ = c.procs[id].Signal(syscall.SIGKILL)
	}
	c.mu.Unlock()
	for _, id := range ids {
		c.gone(id)
	}
}

// rewrite replaces the cluster's topology by another one.
func (c *cluster) rewrite(v topology.Variant) {
	c.t.Helper()
	c.topo = temp.Topology(c.t, v)
}
