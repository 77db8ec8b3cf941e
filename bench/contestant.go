package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// verb is what the nodes of a cluster are in Child.
func (x *contestant) verb() string {
	if x.volatile {
		return "volatile"
	}
	return "node"
}

// start starts the nodes of a cluster of its own.
func (x *contestant) start(ctx context.Context, c *Config, label string) (*crew, error) {
	return startCrew(ctx, c, layout{label: label, verb: x.verb(), broker: x.broker, variant: *x.cluster})
}

// runClient runs a client on a cluster of its own, which is stopped behind it.
func (x *contestant) runClient(ctx context.Context, c *Config, label, verb string, args ...string) (o outcome, n *crew, err error) {
	if n, err = x.start(ctx, c, label); err != nil {
		return o, nil, err
	}
	o, err = c.run(ctx, label+"-client", append([]string{verb, n.topo.File}, args...)...)
	return o, n, errors.Join(err, n.stop())
}

// runAnalysis runs one session.
func (x *contestant) runAnalysis(ctx context.Context, c *Config, label string, s *subject, data string) (outcome, *crew, error) {
	return x.runClient(ctx, c, label, "client", c.clientArgs(s, data)...)
}

func (c *Config) clientArgs(s *subject, data string) []string {
	return []string{s.name(), data, fmt.Sprint(c.Lanes), fmt.Sprint(c.Chunk)}
}

func (x *contestant) enterCluster(ctx context.Context, c *Config, s *subject, data string) (e entry, err error) {
	o, n, err := x.runAnalysis(ctx, c, x.name+"-"+s.name(), s, data)
	if err != nil {
		return e, err
	}
	e = entry{answer: o.Answer, wall: o.Wall, cpu: o.CPU, peak: o.Peak, written: o.Written}
	held := []memory{o.memory}
	for _, u := range n.costs() {
		e.cpu += u.cpu
		e.peak = max(e.peak, u.peak())
		e.written += u.written
		held = append(held, u.held...)
	}
	e.sum = together(held)
	return e, nil
}

func oracleAlone(ctx context.Context, c *Config, s *subject, data string) (entry, error) {
	o, err := c.run(ctx, judge+"-"+s.name(), "oracle", s.name(), data)
	return entry{answer: o.Answer, wall: o.Wall, cpu: o.CPU, peak: o.Peak, sum: o.Peak, written: o.Written}, err
}
