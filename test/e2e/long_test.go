package e2e

import (
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// TestLongAnswersSurviveKills: two clients (one at the short length) fetch an answer of many parts at once. While the rows come, both
// outputs are killed in turn: sometimes the one that a client reads from, sometimes the other. Each client gets each row once, in order.
// When the answers are closed, their files are removed.
func TestLongAnswersSurviveKills(t *testing.T) {
	beside(t)
	d := generatedFor(t, "flights", 60_000)
	c := start(t, topology.Variant{Replicas: map[string]int{"output": 2, "aggregator": 2},
		Settings: map[string]string{"limits.frame": "128KiB", "limits.chunk": "64KiB"}})
	ctx := deadline(t)
	params := map[string]string{"detour_factor": "0"}
	calm := c.analyse(ctx, d.dir, func(cfg *client.Config) { cfg.Analysis, cfg.Params = "flights", params })
	files := func() []string {
		names, err := filepath.Glob(filepath.Join(c.topo.DataDir, "output-*", "files", "*"))
		if err != nil {
			t.Error(err)
		}
		return names
	}
	var wg sync.WaitGroup
	clients := 2
	if !*long && !raced {
		clients = 1
	}
	for range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			pieces, rows := 0, 0
			got := c.analyse(ctx, d.dir, func(cfg *client.Config) {
				cfg.Analysis, cfg.Params, cfg.Timeout = "flights", params, 500*time.Millisecond
				cfg.OnRows = func(_ string, _ []string, r protocol.Rows, _ bool) error {
					if pieces++; pieces == 1 && len(files()) == 0 {
						t.Error("no output has files: there will be nothing to remove")
					}
					if pieces%8 == 0 {
						c.signal(topology.NodeID([]string{"output-1", "output-2"}[pieces/8%2]), syscall.SIGKILL)
					}
					rows += r.Len()
					return nil
				}
			})
			if rows < 50_000 || pieces < 30 {
				t.Errorf("%d rows came in %d pieces: that is not a long answer", rows, pieces)
			}
			if string(got) != string(calm) {
				t.Errorf("the answer has %d bytes, and without kills %d", len(got), len(calm))
			}
		}()
	}
	wg.Wait()
	c.noUnexpectedExits()
	if t.Failed() {
		return
	}
	await.Until(t, "no file of an answer that was closed is left", func() bool { return len(files()) == 0 })
}
