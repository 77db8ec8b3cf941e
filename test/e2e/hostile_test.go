package e2e

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

const mostUnderAttack = 150 * mib * memoryFactor

// TestHostile attacks every socket of every node at once while sessions run: their answers are right, memory stays flat and no
// process ends (§10).
func TestHostile(t *testing.T) {
	d := generated(t, 20_000)
	settings := map[string]string{"limits.handshake": "500ms"}
	for name, v := range map[string]topology.Variant{"ipc": {Settings: settings}, "tcp": loopback()} {
		if name == "ipc" && !*long && !raced {
			continue // the same attacks over other sockets
		}
		v.Settings = settings
		t.Run(name, func(t *testing.T) {
			c := start(t, v)
			ctx, cancel := context.WithCancel(deadline(t))
			defer cancel()
			c.watchMemory(ctx)
			d.check(t, c.analyse(ctx, d.dir, nil)) // everybody is there
			over := make(chan struct{})
			served := 0
			var wg sync.WaitGroup
			wg.Add(1)
			go func() {
				defer wg.Done()
				for first := true; first || !closed(over); first = false {
					d.check(t, c.analyse(ctx, d.dir, func(cfg *client.Config) { cfg.Chunk, cfg.Timeout = 32<<10, time.Second }))
					served++
				}
			}()
			c.attackAll()
			close(over)
			wg.Wait()
			d.check(t, c.analyse(ctx, d.dir, nil))
			cancel()
			c.flatMemory(mostUnderAttack)
			c.noUnexpectedExits()
			t.Logf("%d sessions were served meanwhile", served)
		})
	}
}

// attackAll runs all attacks at every socket, the sockets beside each other.
func (c *cluster) attackAll() {
	c.t.Helper()
	rounds := 1
	if *long {
		rounds = 5
	}
	var wg sync.WaitGroup
	for i, n := range c.topo.Nodes() {
		for j, e := range n.Sockets.List() {
			wg.Add(1)
			go func() {
				defer wg.Done()
				a := &attacker{endpoint: e.Dial, kind: e.Kind, nodes: c.ids(), edges: c.topo.Edges, r: rand.New(rand.NewPCG(uint64(i), uint64(j)))}
				defer a.release()
				for range rounds {
					c.attack(a)
				}
			}()
		}
	}
	wg.Wait()
}

func (c *cluster) attack(a *attacker) {
	for _, what := range attacks {
		a.in = 0
		// A node that stands still for some seconds may let none of a few connections in.
		if !await.Within(patience, func() bool { what.do(a); return a.in > 0 }) {
			c.t.Errorf("%s: %s has reached nobody", a.endpoint, what.name)
		}
	}
}

func (c *cluster) flatMemory(most int64) {
	c.t.Helper()
	c.sampleMemory()
	c.mu.Lock()
	defer c.mu.Unlock()
	largest := int64(0)
	for id, n := range c.peak {
		largest = max(largest, n)
		if n > most {
			c.t.Errorf("%s took %d MiB of memory, at most %d are expected", id, n/mib, most/mib)
		}
	}
	c.t.Logf("the largest process took %d MiB of memory", largest/mib)
}
