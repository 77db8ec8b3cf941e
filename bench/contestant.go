package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/topology"
)

// contestant is one of those who answer an analysis in a race.
type contestant struct {
	name, about string
	cluster     *topology.Variant // nil for a single process
	volatile    bool              // nodes of the cluster do not wait for the disk
	broker      *carrier          // of the cluster's frames; nil when nodes talk to each other
	unbatched   bool              // each frame is a message of the broker
	alone       func(ctx context.Context, c *Config, s *subject, data string) (entry, error)
	// absent says why it cannot take part, "" if it can. It may prepare what the contestant needs, and is called once.
	absent func(ctx context.Context, c *Config) string
}

// first is who the others are compared with, judge whose answers count.
const (
	first = "posta"
	judge = "oracle"
)

// contestants are in the order of the table. Whoever carries frames another way is a line here: a variant of the topology.
func contestants() []contestant {
	split := topology.Variant{SplitParsers: true}
	one := topology.Variant{Replicas: map[string]int{"joiner": 1, "aggregator": 1}}
	all := []contestant{
		{name: first, about: "the default topology over ZeroMQ", cluster: &topology.Variant{}},
		{name: "posta-parsers", about: "parsers on nodes of their own: raw chunks cross a hop", cluster: &split},
		{name: "posta-single", about: "one joiner and one aggregator in place of two each", cluster: &one},
		{name: "posta-volatile", about: "the default topology, but no node waits for its disk: what durability costs", cluster: &topology.Variant{}, volatile: true},
	}
	for _, name := range brokerNames {
		k := carrierOf(name)
		all = append(all,
			contestant{name: name, about: "the default topology over " + name, cluster: &topology.Variant{}, broker: k, absent: k.absent},
			contestant{name: name + "-parsers", about: "parsers on nodes of their own over " + name, cluster: &split, broker: k, absent: k.absent},
		)
	}
	return append(all,
		contestant{name: "duckdb", about: "the same queries in SQL in one process (bench/rivals/duckdb), no guarantee at all", alone: duckAlone, absent: duckAbsent},
		contestant{name: judge, about: "one goroutine and encoding/csv; whose answers the others must have", alone: oracleAlone},
	)
}

// ContestantNames are the names of all contestants.
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

// field is who takes part, out of those that fit. Of those that were asked for, or of all, whoever cannot is named.
func (c *Config) field(ctx context.Context, fits func(*contestant) bool) (field []contestant, skipped []Skip, err error) {
	for _, name := range c.Contestants {
		if !slices.Contains(ContestantNames(), name) {
			return nil, nil, fmt.Errorf("there is no contestant %q; there is %s", name, strings.Join(ContestantNames(), ", "))
		}
	}
	for _, x := range contestants() {
		if !fits(&x) {
			continue
		}
		// The first and the judge are always there: without them nobody else's figures would mean anything.
		if asked := len(c.Contestants) == 0 || slices.Contains(c.Contestants, x.name); !asked && x.name != first && x.name != judge {
			skipped = append(skipped, Skip{x.name, "not asked for"})
			continue
		}
		if x.absent != nil {
			if why := c.absence(ctx, &x); why != "" {
				skipped = append(skipped, Skip{x.name, why})
				continue
			}
		}
		field = append(field, x)
	}
	return field, skipped, nil
}

// absence asks a contestant once.
func (c *Config) absence(ctx context.Context, x *contestant) string {
	why, known := c.absent[x.name]
	if !known {
		why = x.absent(ctx, c)
		if c.absent == nil {
			c.absent = map[string]string{}
		}
		c.absent[x.name] = why
	}
	return why
}

// entry is what one contestant did in one round.
type entry struct {
	answer    json.RawMessage // queries and rejected rows
	wall, cpu time.Duration
	peak, sum int64 // bytes of memory: of the largest process, of all together
	written   int64 // bytes that reached the disk, or will
}

// enter runs a contestant once.
func (x *contestant) enter(ctx context.Context, c *Config, s *subject, data string) (entry, error) {
	if x.alone != nil {
		return x.alone(ctx, c, s, data)
	}
	return x.enterCluster(ctx, c, s, data)
}

// variant is a cluster of its own for one round: below dir, on unix sockets unless TCP is asked for, without medics.
func (x *contestant) variant(c *Config, dir string) topology.Variant {
	v := *x.cluster
	v.Dir, v.IPCDir = filepath.Join(dir, "data"), socketDir(dir)
	if c.TCP > 0 {
		v.IPCDir, v.Ports = "", c.TCP
	}
	v.Settings = map[string]string{"medics.replicas": "0"}
	for key, value := range c.Set {
		v.Settings[key] = value
	}
	return v
}

// verb is what the nodes of a cluster are in Child.
func (x *contestant) verb() string {
	if x.volatile {
		return "volatile"
	}
	return "node"
}

// start starts the nodes of a cluster of its own in a new directory, which is for the caller to remove.
func (x *contestant) start(ctx context.Context, c *Config, label string) (_ *crew, dir string, err error) {
	if dir, err = os.MkdirTemp(c.Dir, "r"); err != nil {
		return nil, "", err
	}
	v := x.variant(c, dir)
	b, err := x.serve(ctx, c, dir, v)
	if err == nil {
		var text string
		if text, err = topology.Generate(v); err != nil && b != nil {
			err = errors.Join(err, b.Close())
		}
		if err == nil {
			var n *crew
			if n, err = startCrew(ctx, c, label, x.verb(), dir, text, b); err == nil {
				return n, dir, nil
			}
		}
	}
	return nil, "", errors.Join(err, os.RemoveAll(dir))
}

// serve starts the broker of those that have one, and tells the topology of it.
func (x *contestant) serve(ctx context.Context, c *Config, dir string, v topology.Variant) (server, error) {
	if x.broker == nil {
		return nil, nil
	}
	return x.broker.serve(ctx, c, dir, v)
}

func (x *contestant) enterCluster(ctx context.Context, c *Config, s *subject, data string) (e entry, err error) {
	label := x.name + "-" + s.name()
	n, dir, err := x.start(ctx, c, label)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	nodes := n.nodes
	o, err := c.run(ctx, label+"-client", "client", n.topo.File, s.name(), data, fmt.Sprint(c.Lanes), fmt.Sprint(c.Chunk))
	if err = errors.Join(err, n.stop()); err != nil {
		return e, err
	}
	e = entry{answer: o.Answer, wall: o.Wall, cpu: o.CPU, peak: o.Peak, written: o.Written}
	held := append([]memory{o.memory}, n.spent.held...)
	e.cpu += n.spent.cpu
	e.peak = max(e.peak, n.spent.peak)
	e.written += n.spent.written
	for _, m := range nodes {
		e.cpu += m.cpu
		e.peak = max(e.peak, m.memory.Peak)
		held = append(held, m.memory)
		e.written += m.written
	}
	e.sum = together(held)
	return e, nil
}

func oracleAlone(ctx context.Context, c *Config, s *subject, data string) (entry, error) {
	o, err := c.run(ctx, judge+"-"+s.name(), "oracle", s.name(), data)
	return entry{answer: o.Answer, wall: o.Wall, cpu: o.CPU, peak: o.Peak, sum: o.Peak, written: o.Written}, err
}
