package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// TestW2_ADamagedLogKeepsItsNodeUp flips a bit in the middle of a node's log. The node reports the damage and stays up. The running session
// fails, and no new one begins; both errors name the node, the file and the command. After the command the node continues by itself, with
// an empty log (R14), and the next answer is right.
func TestW2_ADamagedLogKeepsItsNodeUp(t *testing.T) {
	d := generated(t, 60_000)
	for _, id := range []topology.NodeID{"joiner-1", "input-1", "output-1"} {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			c := start(t, topology.Variant{})
			b := c.listen()
			ready := func(h beat) bool { return h.State == heartbeat.Running || h.State == heartbeat.Blocked }
			b.await("started", ready)
			ctx := deadline(t)
			g := newGate(800_000)
			r := c.begin(ctx, client.Config{Find: g.through(d.dir), Chunk: 16 << 10, Timeout: 500 * time.Millisecond})
			until(t, "facts are under way", func() bool { return r.acked("trips") > 700_000 })
			c.terminate(id)
			if err := clustertest.FlipInTheMiddle(c.data(id)); err != nil {
				t.Fatal(err)
			}
			c.supervise(id)
			b.awaitOf([]topology.NodeID{id}, "says that it is damaged", func(h beat) bool {
				return h.State == heartbeat.Damaged && strings.Contains(h.Trouble, "posta log repair "+c.data(id))
			})
			close(g.open)
			tells := fmt.Sprintf("node %s: its log is damaged: %s", id, c.data(id))
			r.failsWith(tells)
			_, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: d.dir, Timeout: 500 * time.Millisecond})
			if err == nil || !strings.Contains(err.Error(), tells) || !strings.Contains(err.Error(), "posta log repair") {
				t.Errorf("the next session: %v", err)
			}
			if _, err := wal.Repair(c.data(id)); err != nil {
				t.Fatal(err)
			}
			b.await("works again", ready)
			until(t, "a session is begun again", func() bool {
				_, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: d.dir, Timeout: 500 * time.Millisecond})
				return err == nil
			})
			d.check(t, c.analyseAgain(ctx, d.dir))
			c.noUnexpectedExits()
		})
	}
}
