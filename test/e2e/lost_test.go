package e2e

import (
	"context"
	"os"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/topology"
)

// TestR8_LostDisk wipes a node's data directory in the middle of a run. The client hears that the session failed, and which
// node lost its data: never a wrong answer, never silence. The next session on the same cluster is right.
func TestR8_LostDisk(t *testing.T) {
	d := generated(t, 60_000)
	for _, id := range []topology.NodeID{"input-1", "parser-1", "joiner-1", "aggregator-2", "reducer-1", "output-1"} {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			c := start(t, topology.Variant{SplitParsers: id == "parser-1"})
			b := c.listen()
			ctx := deadline(t, time.Minute)
			g := newGate(800_000)
			r := c.begin(ctx, client.Config{Find: g.through(d.dir), Chunk: 16 << 10, Timeout: 500 * time.Millisecond})
			until(t, 20*time.Second, "facts are everywhere", func() bool { return r.acked("trips") > 1_000_000 })
			b.await(20*time.Second, "in the session", func(h beat) bool { return h.FramesIn > 0 || h.Running > 0 })
			c.wipe(t, id)
			close(g.open)
			r.failsWith(string(id)+" lost its data", string(id)+" or ")
			d.check(t, c.analyseAgain(ctx, d.dir))
			b.await(20*time.Second, "free again", idle)
			c.noUnexpectedExits()
		})
	}
}

// analyseAgain does what the reason says: it starts again, once. Nodes notice a lost disk one by one, and a session that begins
// meanwhile is none that it had a part in.
func (c *cluster) analyseAgain(ctx context.Context, dir string) []byte {
	c.t.Helper()
	a, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: dir, Timeout: 500 * time.Millisecond})
	if err != nil {
		c.t.Errorf("the next session failed: %v", err)
		return nil
	}
	return queries(c.t, a)
}

// wipe kills a node, removes its data, and starts it again, as on a new disk.
func (c *cluster) wipe(t *testing.T, id topology.NodeID) {
	t.Helper()
	n, err := c.topo.Node(id)
	if err != nil {
		t.Fatal(err)
	}
	c.kill(id)
	if err := os.RemoveAll(n.DataDir); err != nil {
		t.Fatal(err)
	}
	c.supervise(id)
}
