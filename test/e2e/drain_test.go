package e2e

import (
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
)

// TestN5_TerminateInTurn asks one node after the other to end in the middle of a run, and starts it again.
func TestN5_TerminateInTurn(t *testing.T) {
	d := generated(t, 100_000)
	c := start(t, topology.Variant{SplitParsers: true})
	c.listen().await("up", func(h beat) bool { return h.State == heartbeat.Running })
	enough := make(chan struct{})
	r := c.begin(deadline(t), client.Config{
		Find: slowlyUntil(d.dir, 64<<10, enough), Chunk: 4 << 10, Timeout: 300 * time.Millisecond,
	})
	until(t, "facts are on their way", func() bool { return r.acked("trips") > 0 })
	for _, id := range c.ids() {
		c.endsInTime(id, c.terminate(id))
		c.supervise(id)
	}
	if r.ended() {
		t.Errorf("the run was over before all had been restarted: the test has shown less than it says")
	}
	close(enough)
	d.check(t, r.answer())
	c.noUnexpectedExits()
}

// TestN5_TerminateAll asks all at once, several times.
func TestN5_TerminateAll(t *testing.T) {
	d := generated(t, 100_000)
	c := start(t, twoOfEach())
	b := c.listen()
	enough := make(chan struct{})
	r := c.begin(deadline(t), client.Config{Find: slowlyUntil(d.dir, 256<<10, enough), Chunk: 16 << 10, Timeout: 300 * time.Millisecond})
	for i := range int64(3) {
		until(t, "facts are on their way", func() bool { return r.acked("trips") > i*500_000 })
		// A node that does not handle the signal yet would die of it.
		b.await("up", func(h beat) bool { return h.ID.Incarnation == link.Incarnation(i+1) })
		for id, took := range c.terminateAll() {
			c.endsInTime(id, took)
		}
		if r.ended() {
			t.Errorf("the run was over before stop %d", i+1)
		}
		c.superviseAll()
	}
	close(enough)
	d.check(t, r.answer())
	c.noUnexpectedExits()
}

// endsInTime checks that a node ended within limits.drain, plus some seconds for a machine that stands still. noUnexpectedExits checks that
// the exit code was 0.
func (c *cluster) endsInTime(id topology.NodeID, took time.Duration) {
	c.t.Helper()
	if most := c.topo.Limits.Drain + 10*time.Second; took > most {
		c.t.Errorf("N5: %s took %s to end, at most %s are allowed", id, took.Round(time.Millisecond), most)
	}
}
