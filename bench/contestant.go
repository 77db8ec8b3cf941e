package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/topology"
)

// contestant is a program that answers an analysis in a race.
type contestant struct {
	name, about string
	cluster     *topology.Variant // nil for a single process
	volatile    bool              // nodes of the cluster do not wait for the disk
	inPlace     bool              // inputs read the files in place; otherwise the client sends them
	broker      *brokerKind       // carries the cluster's frames; nil if nodes talk to each other
	sockets     sockets
	unbatched   bool                     // each frame is a message of the broker
	needs       need                     // the program without which it cannot take part
	host        func(*topology.Node) int // the core on which a node runs, or the client if the node is nil; a nil func pins nothing
	process     func(ctx context.Context, c *Config, s *workload, data string) (result, error)
}

// Times are compared with those of the baseline, answers with those of the reference.
const (
	baseline  = "posta"
	reference = "oracle"
)

// contestants returns them in the order of the table. A new transport is one line here: a variant of the topology.
func contestants() []contestant {
	split := topology.Variant{SplitParsers: true}
	one := topology.Variant{Replicas: map[string]int{"joiner": 1, "aggregator": 1}}
	ownCluster := topology.Variant{JoinInInput: true, Settings: map[string]string{"limits.window": "8MiB"}} // as in cmd/internal/run/run.go
	all := []contestant{
		{name: baseline, about: "the default topology over ZeroMQ", cluster: &topology.Variant{}},
		{name: "posta-run",
			about:   "the cluster that posta run starts: the files are read where they lie, and parsed, joined and folded in one process",
			cluster: &ownCluster, inPlace: true},
		{name: "posta-parsers", about: "parsers on nodes of their own: raw chunks cross a hop", cluster: &split},
		{name: "posta-single", about: "one joiner and one aggregator in place of two each", cluster: &one},
		{name: "posta-volatile", about: "the default topology, but no node waits for its disk: what durability costs",
			cluster: &topology.Variant{}, volatile: true},
	}
	for _, name := range brokerNames {
		k := brokerKinds[name]
		all = append(all,
			contestant{name: name, about: "the default topology over " + name, cluster: &topology.Variant{}, broker: k, needs: k.needs},
			contestant{name: name + "-parsers", about: "parsers on nodes of their own over " + name, cluster: &split, broker: k, needs: k.needs},
		)
	}
	return append(all,
		contestant{name: "duckdb", about: "the same queries in SQL in one process (bench/rivals/duckdb), no guarantee at all",
			process: runDuckDB, needs: duckDB},
		contestant{name: reference, about: "one goroutine and encoding/csv; whose answers the others must have",
			process: runOracle, needs: oracle},
	)
}

// defaultTopology is the baseline.
func defaultTopology() *contestant { return &contestants()[0] }

// ContestantNames returns the names of all contestants.
func ContestantNames() []string {
	var names []string
	for _, x := range contestants() {
		names = append(names, x.name)
	}
	return names
}

// Skip is a contestant that did not take part, and why.
type Skip struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// participants returns the contestants to run: those that were asked for, or all. A contestant that cannot take part
// becomes a Skip with the reason.
func (c *Config) participants(ctx context.Context, fits func(*contestant) bool) (field []contestant, skipped []Skip, err error) {
	for _, name := range c.Contestants {
		if !slices.Contains(ContestantNames(), name) {
			return nil, nil, fmt.Errorf("unknown contestant %q; the contestants are %s", name, strings.Join(ContestantNames(), ", "))
		}
	}
	for _, x := range contestants() {
		if !fits(&x) {
			continue
		}
		// The baseline and the reference always take part: without them the other figures would mean nothing.
		if asked := len(c.Contestants) == 0 || slices.Contains(c.Contestants, x.name); !asked && x.name != baseline && x.name != reference {
			skipped = append(skipped, Skip{x.name, "not asked for"})
			continue
		}
		if err := c.prepare(ctx, x.needs); err != nil && x.name == reference {
			return nil, nil, fmt.Errorf("bench: the oracle, whose answers the others must have: %w", err)
		} else if err != nil {
			skipped = append(skipped, Skip{x.name, err.Error()})
			continue
		}
		field = append(field, x)
	}
	return field, skipped, nil
}

// result is what one contestant did in one round.
type result struct {
	answer    json.RawMessage // queries and rejected rows
	wall, cpu time.Duration
	peak, sum int64 // bytes of memory: of the largest process, and of all together
	written   int64 // bytes that reached the disk, or will reach it
}

// run runs a contestant once.
func (x *contestant) run(ctx context.Context, c *Config, s *workload, data string) (result, error) {
	if x.process != nil {
		return x.process(ctx, c, s, data)
	}
	return x.runCluster(ctx, c, s, data)
}

// verb returns the argument of Child that starts a node of this cluster.
func (x *contestant) verb() string {
	if x.volatile {
		return "volatile"
	}
	return "node"
}

// start starts the nodes of a new cluster.
func (x *contestant) start(ctx context.Context, c *Config, label string) (*cluster, error) {
	c, err := x.sockets.apply(c)
	if err != nil {
		return nil, err
	}
	return startCluster(ctx, c, clusterPlan{label: label, verb: x.verb(), broker: x.broker, variant: *x.cluster, host: x.host})
}

// runClient runs a client on a new cluster, and then stops the cluster.
func (x *contestant) runClient(ctx context.Context, c *Config, label, verb string, args ...string) (o childReport, n *cluster, err error) {
	if n, err = x.start(ctx, c, label); err != nil {
		return o, nil, err
	}
	if x.host != nil {
		own := *c
		own.starts = func(cmd *exec.Cmd) error { return startOn(x.host(nil), cmd) }
		c = &own
	}
	o, err = c.run(ctx, label+"-client", append([]string{verb, n.topo.File}, args...)...)
	return o, n, errors.Join(err, n.stop())
}

// runAnalysis runs one session.
func (x *contestant) runAnalysis(ctx context.Context, c *Config, label string, s *workload, data string) (childReport, *cluster, error) {
	return x.runClient(ctx, c, label, "client", c.clientArgs(s, data)...)
}

func (c *Config) clientArgs(s *workload, data string) []string {
	return []string{s.name(), data, fmt.Sprint(c.Lanes), fmt.Sprint(c.Chunk)}
}

func (x *contestant) runCluster(ctx context.Context, c *Config, s *workload, data string) (e result, err error) {
	o, n, err := x.runAnalysis(ctx, c, x.name+"-"+s.name(), s, data)
	if err != nil {
		return e, err
	}
	e = result{answer: o.Answer, wall: o.Wall, cpu: o.CPU, peak: o.Peak, written: o.Written}
	held := []memory{o.memory}
	for _, u := range n.costs() {
		e.cpu += u.cpu
		e.peak = max(e.peak, u.peak())
		e.written += u.written
		held = append(held, u.held...)
	}
	e.sum = totalMemory(held)
	return e, nil
}

func runOracle(ctx context.Context, c *Config, s *workload, data string) (result, error) {
	o, err := c.runOracle(ctx, s, data)
	return result{answer: o.Answer, wall: o.Wall, cpu: o.CPU, peak: o.Peak, sum: o.Peak, written: o.Written}, err
}
