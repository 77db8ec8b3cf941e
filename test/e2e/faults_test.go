package e2e

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/topology"
)

// storm runs analyses of each dataset one after the other. Meanwhile it calls do for a random node every few hundred milliseconds, until
// that has happened often enough. It checks every answer.
func (c *cluster) storm(all []*dataset, times int, every time.Duration, seed uint64, do func(*rand.Rand, topology.NodeID)) {
	c.t.Helper()
	ctx := deadline(c.t)
	calm := make(chan struct{})
	var wg sync.WaitGroup
	var n atomic.Int64
	for _, d := range all {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for first := true; first || !closed(calm); first = false {
				got := c.analyse(ctx, d.dir, func(cfg *client.Config) {
					d.config(cfg)
					cfg.Timeout = 500 * time.Millisecond
					if len(c.topo.Roots) == 0 { // with roots, the inputs cut the files
						cfg.Chunk = 32 << 10
					}
				})
				d.check(c.t, got)
				n.Add(1)
				if c.t.Failed() {
					return
				}
			}
		}()
	}
	r := rand.New(rand.NewPCG(seed, 1))
	ids := c.ids()
	for i := 0; i < times && !c.t.Failed(); i++ {
		do(r, ids[r.IntN(len(ids))])
		time.Sleep(every/2 + time.Duration(r.Int64N(int64(every))))
	}
	close(calm)
	wg.Wait()
	if !c.t.Failed() {
		c.t.Logf("seed %d: %d faults, %d analyses, all answers equal the oracle's", seed, times, n.Load())
	}
	c.noUnexpectedExits()
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// beside lets a test run in parallel with similar ones at full length. Most of a storm is the time between two faults, while sessions run.
// So two storms can share the machine, and take half as long.
func beside(t *testing.T) {
	if *long {
		t.Parallel()
	}
}

// few returns how many of n faults a test injects: a third, or all at full length, as make nightly does.
func few(n int) int {
	if *long {
		return n
	}
	return n / 3
}

// alike reports whether a test is left to make nightly, which runs it at full length and with the race detector: `make test` runs another
// test of the same kind.
func alike(t *testing.T, other string) bool {
	t.Helper()
	if *long || raced {
		return false
	}
	t.Logf("nothing to do without -long or -race: %s is of the same kind", other)
	return true
}

func stormSeeds() []uint64 {
	if *long {
		return []uint64{1, 2, 3}
	}
	return []uint64{1}
}

func twoOfEach() topology.Variant {
	return topology.Variant{Replicas: map[string]int{"input": 2, "joiner": 2, "aggregator": 2, "reducer": 2, "output": 2}}
}

// TestKill kills random nodes with SIGKILL, input and output included, at least 30 times in a run at full length.
func TestKill(t *testing.T) {
	if alike(t, "TestKillTight") {
		return
	}
	beside(t)
	d := generated(t, 300_000)
	for _, seed := range stormSeeds() {
		c := start(t, twoOfEach())
		c.storm([]*dataset{d, d}, few(32), 300*time.Millisecond, seed, func(_ *rand.Rand, id topology.NodeID) { c.signal(id, syscall.SIGKILL) })
	}
}

// TestKillDefault is TestKill on the default topology, which has one input, one reducer and one output, and whose input folds the facts.
func TestKillDefault(t *testing.T) {
	if alike(t, "TestProxyAndKill") {
		return
	}
	beside(t)
	d := generated(t, 300_000)
	for _, joinInInput := range []bool{false, true} {
		c := start(t, topology.Variant{JoinInInput: joinInInput})
		c.storm([]*dataset{d, d}, few(32), 300*time.Millisecond, 11, func(_ *rand.Rand, id topology.NodeID) { c.signal(id, syscall.SIGKILL) })
	}
}

// tightest returns the smallest limits: almost every commit meets a full window, a new segment, a snapshot or a cut of the log.
func tightest() topology.Variant {
	v := twoOfEach()
	v.SplitParsers = true
	v.Settings = map[string]string{
		"limits.window": "64KiB", "limits.chunk": "32KiB", "limits.frame": "64KiB", "limits.commit": "64KiB", "limits.segment": "64KiB",
		"limits.snapshot": "64KiB",
	}
	return v
}

// TestKillTight is TestKill with nodes that die in the middle of new segments, snapshots and cuts, while the windows on both sides are
// full.
func TestKillTight(t *testing.T) {
	beside(t)
	d, j := generated(t, 60_000), joined(t, 10_000)
	for _, seed := range stormSeeds() {
		c := start(t, tightest())
		segments := map[string]bool{}
		c.storm([]*dataset{d, d, j}, few(24), 300*time.Millisecond, seed, func(_ *rand.Rand, id topology.NodeID) {
			c.signal(id, syscall.SIGKILL)
			now, err := filepath.Glob(filepath.Join(c.data(id), "segments", "*"))
			if err != nil {
				t.Error(err)
			}
			for _, s := range now {
				segments[s] = true
			}
		})
		t.Logf("the nodes that were killed had %d segments", len(segments))
	}
}

// TestPause stops a random node with SIGSTOP for a while, and continues it with SIGCONT. The other nodes continue meanwhile, and the node
// catches up.
func TestPause(t *testing.T) {
	if alike(t, "TestKillAndPauseEveryAnalysis") {
		return
	}
	beside(t)
	d := generated(t, 300_000)
	for _, seed := range stormSeeds() {
		c := start(t, twoOfEach())
		c.storm([]*dataset{d, d}, few(20), 200*time.Millisecond, seed, func(r *rand.Rand, id topology.NodeID) {
			c.pause(r, id)
		})
	}
}

// pause stops a node for less than a second, and continues it.
func (c *cluster) pause(r *rand.Rand, id topology.NodeID) {
	c.signal(id, syscall.SIGSTOP)
	time.Sleep(time.Duration(50+r.IntN(600)) * time.Millisecond)
	c.signal(id, syscall.SIGCONT)
}

// TestKillAndPause mixes both, with parsers on nodes of their own.
func TestKillAndPause(t *testing.T) {
	if alike(t, "TestKillAndPauseEveryAnalysis") {
		return
	}
	beside(t)
	d := generated(t, 150_000)
	v := topology.Variant{SplitParsers: true, Replicas: map[string]int{"parser": 2, "joiner": 2, "aggregator": 2}}
	c := start(t, v)
	c.killAndPause([]*dataset{d, d}, few(30), 21)
}

func (c *cluster) killAndPause(all []*dataset, times int, seed uint64) {
	c.t.Helper()
	c.storm(all, times, 300*time.Millisecond, seed, func(r *rand.Rand, id topology.NodeID) {
		if r.IntN(2) == 0 {
			c.signal(id, syscall.SIGKILL)
			return
		}
		c.signal(id, syscall.SIGSTOP)
		time.Sleep(time.Duration(50+r.IntN(300)) * time.Millisecond)
		c.signal(id, syscall.SIGCONT)
	})
}

// TestKillAndPauseEveryAnalysis: the same for each analysis, and for all four at once on one cluster, together with statements of SQL.
func TestKillAndPauseEveryAnalysis(t *testing.T) {
	beside(t)
	rows := map[string]int{"bikes": 100_000, "flights": 30_000, "movies": 30_000, "memes": 60_000}
	var all []*dataset
	for _, name := range []string{"bikes", "flights", "movies", "memes"} {
		d := generatedFor(t, name, rows[name])
		all = append(all, d)
		if *long && name != "bikes" { // bikes has its own tests above
			t.Run(name, func(t *testing.T) { start(t, twoOfEach()).killAndPause([]*dataset{d, d}, 20, 31) })
		}
	}
	t.Run("all at once", func(t *testing.T) {
		start(t, twoOfEach()).killAndPause(append(all, statements(t, 20_000)...), few(30), 32)
	})
}
