package e2e

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// TestProxy runs everything, clients included, through connections that are cut at any byte, delayed, throttled, and
// repeated beside and after themselves (R4, R6, R7; the protocol's promise that every request may be repeated).
func TestProxy(t *testing.T) {
	if alike(t, "TestProxyAndKill") {
		return
	}
	beside(t)
	d := generated(t, 150_000)
	for _, seed := range stormSeeds() {
		v := twoOfEach()
		v.SplitParsers = seed%2 == 0
		c, p := proxied(t, v, seed)
		runThrough(c, d, p, seed)
	}
}

// TestProxyAndKill adds kill -9.
func TestProxyAndKill(t *testing.T) {
	beside(t)
	d := generated(t, 150_000)
	c, p := proxied(t, topology.Variant{}, 31)
	times := 6
	if *long {
		times = 40
	}
	c.storm([]*dataset{d, d}, times, 400*time.Millisecond, 31, func(_ *rand.Rand, id topology.NodeID) { c.signal(id, syscall.SIGKILL) })
	t.Log(p.report())
}

func (p *proxy) report() string {
	return fmt.Sprintf("%d connections, %d cut (%d early), %d pieces delayed, %d doubled, %d repeated later",
		p.conns.Load(), p.cuts.Load(), p.early.Load(), p.delays.Load(), p.twins.Load(), p.replays.Load())
}

// proxied starts a cluster whose nodes listen in one directory and dial in another, with a proxy between the two.
func proxied(t *testing.T, v topology.Variant, seed uint64) (*cluster, *proxy) {
	t.Helper()
	dial, bind := temp.Sockets(t), temp.Sockets(t)
	v.Dir, v.IPCDir, v.Bind = t.TempDir(), dial, "ipc:"+bind
	topo := temp.Topology(t, v)
	p := startProxy(t, topo, seed)
	return startAll(t, v.Dir, topo), p
}

// runThrough runs several analyses at once, and expects that the proxy has injected every kind of fault.
func runThrough(c *cluster, d *dataset, p *proxy, seed uint64) {
	c.t.Helper()
	ctx := deadline(c.t)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			d.check(c.t, c.analyse(ctx, d.dir, func(cfg *client.Config) {
				cfg.Lanes, cfg.Chunk, cfg.Timeout = 2+2*i, 16<<10, 300*time.Millisecond
			}))
		}()
	}
	wg.Wait()
	for what, n := range map[string]int64{"cut": p.cuts.Load(), "cut early": p.early.Load(), "delayed": p.delays.Load(),
		"doubled": p.twins.Load(), "repeated later": p.replays.Load()} {
		if n == 0 {
			c.t.Errorf("no connection was %s: the test has shown less than it says", what)
		}
	}
	c.noUnexpectedExits()
	c.t.Logf("seed %d: %s", seed, p.report())
}
