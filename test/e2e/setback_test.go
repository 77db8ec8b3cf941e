package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// TestR14_ALogThatWasSetBack stops a whole cluster in the middle of an upload. It removes the last records from a node's log, as a disk
// does that has lied about a flush, or restores the node's directory from an earlier copy. Then it starts the cluster again. No answer is
// wrong, no client waits for ever, and the next session is right.
func TestR14_ALogThatWasSetBack(t *testing.T) {
	d := generated(t, 60_000)
	nodes := []topology.NodeID{"input-1", "joiner-1", "joiner-2", "aggregator-2", "reducer-1", "output-1"}
	how := []string{"1 record lost", "directory restored"}
	if *long {
		nodes = append(nodes, "aggregator-1")
		how = append(how, "2 records lost", "10 records lost", "1000 records lost", "with its receivers", "with all")
	}
	for i, id := range nodes {
		for j, h := range how {
			if (i+j)%2 == 1 && !*long && !raced {
				continue // every node, and both ways
			}
			t.Run(string(id)+" "+h, func(t *testing.T) { setBack(t, d, id, h) })
		}
	}
}

func setBack(t *testing.T, d *dataset, id topology.NodeID, how string) {
	c := start(t, topology.Variant{})
	b := c.listen()
	ready := func(h beat) bool { return h.State == heartbeat.Running || h.State == heartbeat.Blocked }
	b.await("started", ready)
	ctx := deadline(t)
	g := newGate(800_000)
	r := c.begin(ctx, client.Config{Find: g.through(d.dir), Chunk: 16 << 10, Timeout: 500 * time.Millisecond})
	until(t, "facts are under way", func() bool { return r.acked("trips") > 300_000 })
	copies := t.TempDir()
	hit := c.alsoHit(id, how)
	var lost int
	if _, err := fmt.Sscanf(how, "%d record", &lost); err != nil {
		for _, n := range hit {
			c.terminate(n)
			if err := clustertest.CopyDirectory(c.data(n), filepath.Join(copies, string(n))); err != nil {
				t.Fatal(err)
			}
			c.supervise(n)
		}
		b.await("started again", func(h beat) bool {
			return ready(h) && (h.ID.Incarnation == 2 || !slices.Contains(hit, h.Node)) // a late heartbeat may be from before
		})
	}
	until(t, "more facts are under way", func() bool { return r.acked("trips") > 700_000 })
	c.terminateAll()
	for _, n := range hit {
		if lost > 0 {
			gone, err := clustertest.LoseRecords(c.data(n), lost)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d records are gone", n, gone)
			continue
		}
		if err := clustertest.CopyDirectory(filepath.Join(copies, string(n)), c.data(n)); err != nil {
			t.Fatal(err)
		}
	}
	c.superviseAll()
	close(g.open)
	<-r.done
	switch {
	case ctx.Err() != nil:
		t.Fatalf("the client waits for ever: %v", r.err)
	case r.err == nil:
		d.check(t, r.got) // no peer had received what was lost
	default:
		t.Logf("the session fails: %v", r.err)
	}
	d.check(t, c.analyseAgain(ctx, d.dir))
	b.await("free again", idle)
	c.noUnexpectedExits()
}

func (c *cluster) alsoHit(id topology.NodeID, how string) []topology.NodeID {
	switch how {
	case "with all":
		return c.ids()
	case "with its receivers":
		hit := []topology.NodeID{id}
		n, err := c.topo.Node(id)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, e := range c.topo.EdgesFrom(n.Stage) {
			hit = append(hit, c.topo.Receivers(e)[0].ID)
		}
		return hit[:min(2, len(hit))]
	}
	return []topology.NodeID{id}
}

func (c *cluster) data(id topology.NodeID) string {
	n, err := c.topo.Node(id)
	if err != nil {
		c.t.Fatal(err)
	}
	return n.DataDir
}
