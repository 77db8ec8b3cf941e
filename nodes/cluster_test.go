package nodes_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/client"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/nodes"
	"posta.dev/posta/security"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/test/oracle/bikesoracle"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is all nodes of a topology in this process, each with its own goroutines, sockets and data directory.
type cluster struct {
	t     *testing.T
	topo  *topology.Topology
	keys  map[topology.NodeID]*security.Keys
	stops map[topology.NodeID]func() error
}

func start(t *testing.T, v topology.Variant) *cluster {
	t.Helper()
	return startWith(t, temp.Topology(t, v), nil)
}

// startWith starts the nodes of a topology with their keys, if there are any.
func startWith(t *testing.T, topo *topology.Topology, keys map[topology.NodeID]*security.Keys) *cluster {
	t.Helper()
	c := &cluster{t: t, topo: topo, keys: keys, stops: map[topology.NodeID]func() error{}}
	for _, n := range topo.Nodes() {
		c.run(n.ID)
	}
	t.Cleanup(c.stopAll)
	return c
}

func (c *cluster) run(id topology.NodeID) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	level := slog.LevelWarn
	if os.Getenv("POSTA_TEST_LOG") != "" {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	known := analyses.Set{bikes.New(), quoting()}
	for name := range failures {
		known = append(known, failsWith(name))
	}
	go func() {
		ended <- nodes.Run(ctx, nodes.Config{
			Topology: c.topo, Node: id, Known: known, Version: "test", Log: log, Keys: c.keys[id],
		})
	}()
	c.stops[id] = func() error { cancel(); return <-ended }
}

func (c *cluster) stopAll() {
	var wg sync.WaitGroup
	for id, stop := range c.stops {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := stop(); err != nil {
				c.t.Errorf("node %s: %v", id, err)
			}
		}()
	}
	wg.Wait()
}

func (c *cluster) analyse(dir string, change func(*client.Config)) []byte {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cfg := client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: dir}
	if change != nil {
		change(&cfg)
	}
	a, err := client.Run(ctx, cfg)
	if err != nil {
		c.t.Fatalf("run: %v", err)
	}
	return truth.Queries(c.t, a)
}

func data(t *testing.T, rows int) (dir string, want []byte) {
	t.Helper()
	dir = t.TempDir()
	if err := gen.Bikes(gen.OnDisk(dir), rows, 1); err != nil {
		t.Fatal(err)
	}
	a, err := bikesoracle.Run(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dir, truth.Queries(t, a)
}

func TestBikesEqualTheOracle(t *testing.T) {
	dir, want := data(t, 50_000)
	c := start(t, topology.Variant{})
	if got := c.analyse(dir, nil); !bytes.Equal(got, want) {
		t.Errorf("answers differ:\n got %.2000s\nwant %.2000s", got, want)
	}
}

func TestD1_AnswersDoNotDependOnTheTopology(t *testing.T) {
	dir, want := data(t, 12_000)
	one := func(n int) map[string]int {
		return map[string]int{"input": n, "joiner": n, "aggregator": n, "reducer": n, "output": n}
	}
	split := one(2)
	split["parser"] = 3
	for _, c := range []struct {
		name  string
		v     topology.Variant
		lanes int
		chunk int
	}{
		{"one of each, one lane", topology.Variant{Replicas: one(1)}, 1, 0},
		{"two of each, odd chunks", topology.Variant{Replicas: one(2)}, 3, 777},
		{"three of each, tiny windows", topology.Variant{Replicas: one(3), Settings: map[string]string{
			"limits.window": "64KiB", "limits.chunk": "16KiB", "limits.commit": "64KiB"}}, 8, 0},
		{"four of each", topology.Variant{Replicas: one(4)}, 8, 10_000},
		{"the joiner in the input's process", topology.Variant{JoinInInput: true}, 4, 5000},
		{"parsers on nodes of their own", topology.Variant{Replicas: split, SplitParsers: true}, 4, 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := start(t, c.v)
			got := cl.analyse(dir, func(cfg *client.Config) { cfg.Lanes, cfg.Chunk = c.lanes, c.chunk })
			if !bytes.Equal(got, want) {
				t.Errorf("answers differ:\n got %.2000s\nwant %.2000s", got, want)
			}
		})
	}
}
