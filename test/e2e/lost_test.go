package e2e

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/e2e/truth"
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
			ctx := deadline(t)
			g := newGate(800_000)
			r := c.begin(ctx, client.Config{Find: g.through(d.dir), Chunk: 16 << 10, Timeout: 500 * time.Millisecond})
			until(t, "facts are everywhere", func() bool { return r.acked("trips") > 1_000_000 })
			b.hasTakenPart()
			c.wipe(t, id)
			close(g.open)
			r.failsWith(string(id)+" lost its data", string(id)+" or ")
			d.check(t, c.analyseAgain(ctx, d.dir))
			b.await("free again", idle)
			c.noUnexpectedExits()
		})
	}
}

// TestR8_OneLostOutputOfTwo: if one of two outputs loses its disk, the other one still has the results, whichever of
// them a client asks first, and whether the lost output comes back empty or not at all. Closed sessions stay closed.
func TestR8_OneLostOutputOfTwo(t *testing.T) {
	d := generated(t, 20_000)
	for _, lost := range []topology.NodeID{"output-1", "output-2"} {
		t.Run(string(lost), func(t *testing.T) {
			t.Parallel()
			c := start(t, topology.Variant{Replicas: map[string]int{"output": 2}})
			b := c.listen()
			ctx := deadline(t)
			id, token := session.New(), session.NewToken()
			keep := func(cfg *client.Config) {
				cfg.Session, cfg.Token, cfg.KeepResults, cfg.Timeout = id, token, true, 500*time.Millisecond
			}
			d.check(t, c.analyse(ctx, d.dir, keep))
			closed, theirs := session.New(), session.NewToken()
			d.check(t, c.analyse(ctx, d.dir, func(cfg *client.Config) { cfg.Session, cfg.Token = closed, theirs }))
			c.shrinks(b)
			c.kill(lost)
			d.check(t, c.analyse(ctx, "/nowhere", keep))
			c.wipe(t, lost)
			b.awaitOf([]topology.NodeID{lost}, "at work with an empty log", func(h beat) bool {
				return h.State == heartbeat.Running && h.ID.Incarnation == 1
			})
			for range 3 {
				d.check(t, c.analyse(ctx, "/nowhere", keep))
				d.check(t, c.results(ctx, id, token))
			}
			_, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: d.dir, Session: closed, Token: theirs})
			if !errors.Is(err, protocol.ErrClosed) {
				t.Errorf("who submits what was closed hears %v", err)
			}
			d.check(t, c.analyseAgain(ctx, d.dir))
			b.await("free again", idle)
			c.noUnexpectedExits()
		})
	}
}

// hasTakenPart waits until the loss of any node would lose a part of the session. Each node then has the session, and has acknowledged
// frames of it. A node that has acknowledged nothing loses nothing, because its senders still have everything. A node has the session
// before its senders' backlog ends for it, so the test waits for one after the other.
func (b *beats) hasTakenPart() {
	b.t.Helper()
	b.await("in the session", func(h beat) bool { return !idle(h) })
	b.await("without a backlog", func(h beat) bool {
		return !slices.ContainsFunc(h.Links, func(l heartbeat.Link) bool { return l.Bytes > 0 })
	})
}

// results asks only the outputs, as `posta results` does.
func (c *cluster) results(ctx context.Context, id session.ID, token session.Token) []byte {
	c.t.Helper()
	cl, err := client.Dial(ctx, client.Config{Entries: c.topo.EntryPoints(), Session: id, Token: token, Timeout: 500 * time.Millisecond})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = cl.Close() }() // closing is not what is tested
	a, err := cl.Results(ctx)
	if err != nil {
		c.t.Errorf("results: %v", err)
		return nil
	}
	return truth.Queries(c.t, a)
}

// analyseAgain does what the reason says: it starts the session again, once. Nodes notice a lost disk one by one, and
// the lost log had no part in a session that begins meanwhile.
func (c *cluster) analyseAgain(ctx context.Context, dir string) []byte {
	c.t.Helper()
	a, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: dir, Timeout: 500 * time.Millisecond})
	if err != nil {
		c.t.Errorf("the next session failed: %v", err)
		return nil
	}
	return truth.Queries(c.t, a)
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
