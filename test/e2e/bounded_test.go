package e2e

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

const (
	mib     = 1 << 20
	mostRAM = 200 * mib * memoryFactor // of any process
	mostLog = 24 * mib                 // of any node while a node is stopped, with the limits of tight
	restLog = 256 << 10                // of any node after all sessions
	settled = 1500 * time.Millisecond  // without progress: held back, and not only waiting for a processor
)

// tight returns a topology with small windows, so that back-pressure soon reaches every node.
func tight() topology.Variant {
	return topology.Variant{Settings: map[string]string{
		"limits.window": "256KiB", "limits.chunk": "32KiB", "limits.commit": "256KiB", "limits.segment": "1MiB", "limits.snapshot": "1MiB",
	}}
}

func standstill() time.Duration {
	if *long {
		return time.Minute
	}
	return 3 * time.Second
}

// TestR9_AggregatorStopped stops one receiver of a hash edge in the middle of a large upload. The client is held back,
// and no memory and no disk grows. When the receiver continues, so does everything else.
func TestR9_AggregatorStopped(t *testing.T) {
	const rows = 1_200_000 // full windows hold the tables of many rows, because joiners fold everything that a commit takes
	d := generated(t, rows)
	c := start(t, tight())
	b := c.listen()
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	c.watchMemory(ctx)
	r := c.begin(ctx, client.Config{Dir: d.dir, Lanes: 4})
	until(t, "facts are on their way", func() bool { return r.acked("trips") > 100<<10 })
	c.signal("aggregator-1", syscall.SIGSTOP)
	held := c.heldBack(r, standstill())
	if total := int64(rows * 55); held > total/2 {
		t.Errorf("R9: %d bytes were taken while aggregator-1 stood still, of about %d", held, total)
	}
	c.signal("aggregator-1", syscall.SIGCONT)
	d.check(t, r.answer())
	c.shrinks(b)
	cancel()
	c.flatMemory(mostRAM)
	c.noUnexpectedExits()
}

// heldBack waits until the client's acknowledged bytes have not grown for the given time, and returns them. Meanwhile no log may grow
// beyond its bound, and the run may not end. A machine that stands still looks like nodes that take nothing. So if they take something
// after it continues, the wait begins again.
func (c *cluster) heldBack(r *run, quiet time.Duration) int64 {
	c.t.Helper()
	last, since := r.acked("trips"), time.Now()
	until(c.t, "the client is held back", func() bool {
		if now := r.acked("trips"); now != last {
			last, since = now, time.Now()
		}
		for _, id := range c.ids() {
			if n := c.logBytes(id); n > mostLog {
				c.t.Errorf("R9: the data of %s takes %d MiB while another node stands still", id, n/mib)
				return true
			}
		}
		time.Sleep(50 * time.Millisecond)
		return time.Since(since) >= quiet || r.ended()
	})
	if r.ended() {
		c.t.Errorf("R9: the run ended while a node stood still: %v", r.err)
	}
	return last
}

// shrinks waits until the logs of a cluster without sessions are almost empty.
func (c *cluster) shrinks(b *beats) {
	c.t.Helper()
	b.await("without sessions", idle)
	what := ""
	if !await.Within(patience, func() bool {
		what = ""
		for _, id := range c.ids() {
			if n := c.logBytes(id); n > restLog {
				what += fmt.Sprintf(" %s %d KiB", id, n>>10)
			}
		}
		return what == ""
	}) {
		c.t.Errorf("logs after the last session:%s", what)
	}
}

// TestR9_JoinerStopped stops one receiver of an edge of route any: it delays only the frames that it holds, and the
// others continue.
func TestR9_JoinerStopped(t *testing.T) {
	d := generated(t, 300_000)
	c := start(t, tight())
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	c.watchMemory(ctx)
	r := c.begin(ctx, client.Config{Dir: d.dir, Lanes: 4})
	until(t, "facts are on their way", func() bool { return r.acked("trips") > 100<<10 })
	c.signal("joiner-1", syscall.SIGSTOP)
	at := r.acked("trips")
	until(t, "all facts are taken though joiner-1 stands still", func() bool { return r.streamEnded("trips") })
	if r.acked("trips") < at+5*mib {
		t.Errorf("only %d bytes were left when joiner-1 was stopped: the test has shown nothing", r.acked("trips")-at)
	}
	if await.Within(settled, r.ended) {
		t.Errorf("the run ended without what joiner-1 holds: %v", r.err)
	}
	c.signal("joiner-1", syscall.SIGCONT)
	d.check(t, r.answer())
	cancel()
	c.flatMemory(mostRAM)
	c.noUnexpectedExits()
}
