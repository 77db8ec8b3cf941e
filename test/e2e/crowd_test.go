package e2e

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"posta.dev/posta/topology"
)

// TestHostile_Crowd fills every socket with connections that completed the handshake and then stay silent, more than a
// listener serves. Clients and nodes that come after them are let in nevertheless.
func TestHostile_Crowd(t *testing.T) {
	d := generated(t, 20_000)
	c := start(t, topology.Variant{})
	ctx := deadline(t)
	d.check(t, c.analyse(ctx, d.dir, nil)) // now all nodes are connected
	var wg sync.WaitGroup
	for _, n := range c.topo.Nodes() {
		if !*long && n.ID != "input-1" && n.ID != "aggregator-1" {
			continue // these two sockets are enough: clients send to the first, and joiner-1 has to connect to the second
		}
		for _, e := range n.Sockets.List() {
			wg.Add(1)
			go func() {
				defer wg.Done()
				a := &attacker{endpoint: e.Dial, kind: e.Kind, r: rand.New(rand.NewPCG(1, 1))}
				t.Cleanup(a.release)
				a.guests(1100, "", func(int) []byte { return nil }, true)
				if a.in < 1000 {
					t.Errorf("only %d guests were let in at %s", a.in, e.Dial)
				}
			}()
		}
	}
	wg.Wait()
	d.check(t, c.analyse(ctx, d.dir, nil))
	c.signal("joiner-1", syscall.SIGKILL) // it has to connect to every peer again
	d.check(t, c.analyse(ctx, d.dir, nil))
	c.noUnexpectedExits()
}
