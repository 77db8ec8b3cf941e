package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// measureLink sends frames from one node to another. Every frame is in the sender's log before it is sent (R3), and counts
// when the commit that accepted it is in the receiver's log (R5).
func measureLink(ctx context.Context, c *Config) ([]Case, error) {
	pool := newPool()
	var cases []Case
	for _, links := range c.Links {
		for _, size := range c.Sizes {
			if links > 1 && size != manyLinksSize && len(c.Sizes) > 1 {
				continue
			}
			done, err := linkCase(ctx, c, pool, size, links)
			if err != nil {
				return nil, err
			}
			cases = append(cases, done)
		}
	}
	return cases, nil
}

// manyLinksSize is the frame size with which several links are measured, if there are several sizes.
const manyLinksSize = 1 << 10

// DefaultLinks are the numbers of links that are measured, each from its own source to the one sink.
var DefaultLinks = []int{1, 2, 4, 8}

// linkCase measures the given number of links from as many sources to one sink.
func linkCase(ctx context.Context, c *Config, pool []byte, size, links int) (done Case, err error) {
	b, err := dialLinks(ctx, c, clusterPlan{label: "link", verb: "link", text: linkTopology(links)})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	b.pool, b.size = pool, size
	name := sizeName(size) + " frames"
	if links > 1 {
		name += fmt.Sprintf(", %d links", links)
	}
	return repeat(ctx, name, c.rounds(), b.round)
}

// linkTopology has sources in place of input and parser, and a sink in place of all other stages.
func linkTopology(links int) func(*Config, string, topology.Variant) string {
	stages := stageText("source", `chain = ["input", "parser"]`, links) +
		stageText("sink", `chain = ["joiner", "aggregator", "reducer", "output"]`, 1)
	edges := edgeText("source", "sink", "facts", "push", "any", "") + edgeText("source", "sink", "reference", "pub", "all", "")
	return func(c *Config, dir string, v topology.Variant) string {
		return benchTopology(c, dir, "link", stages+edges, v.Settings)
	}
}

// benchTopology returns the beginning of a topology that no variant describes: one host, no medics, and all settings that do
// not concern medics.
func benchTopology(c *Config, dir, name, stagesAndEdges string, set map[string]string) string {
	sections := map[string]string{}
	for key, value := range set {
		section, name, _ := strings.Cut(key, ".")
		if _, err := strconv.Atoi(value); err != nil && value != "true" && value != "false" {
			value = strconv.Quote(value)
		}
		sections[section] += name + " = " + value + "\n"
	}
	settings := strings.Builder{}
	for _, section := range []string{"limits", topology.ViaRabbitMQ, topology.ViaNATS} {
		fmt.Fprintf(&settings, "[%s]\n%s", section, sections[section])
	}
	host := fmt.Sprintf("address = %q", "ipc:"+socketDir(dir))
	if c.TCP > 0 {
		host = fmt.Sprintf("address = \"127.0.0.1\"\nports = %d", c.TCP)
	}
	return fmt.Sprintf(`[cluster]
name = %q
data = "data"
%s[hosts.local]
%s
%s[medics]
replicas = 0
%s`, name, sections["cluster"], host, stagesAndEdges, settings.String())
}

// linkBench is the nodes of a measurement: sources and their sink.
type linkBench struct {
	c       *Config
	cluster *cluster
	pool    []byte
	size    int
	sent    int // number of frames in all rounds
	sources []*zmqx.Req
	sink    *zmqx.Req
}

// dialLinks starts sources and a sink, and connects to them.
func dialLinks(ctx context.Context, c *Config, l clusterPlan) (*linkBench, error) {
	n, err := startCluster(ctx, c, l)
	if err != nil {
		return nil, err
	}
	b := &linkBench{c: c, cluster: n}
	for _, n := range n.topo.Nodes() {
		req, err := requesterTo(n, b.cluster.keys)
		if err != nil {
			return nil, errors.Join(err, b.close())
		}
		if n.Holds(topology.Input) {
			b.sources = append(b.sources, req)
		} else {
			b.sink = req
		}
	}
	return b, nil
}

// close also stops the nodes.
func (b *linkBench) close() error {
	var errs []error
	for _, s := range append(b.sources, b.sink) {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(append(errs, b.cluster.stop())...)
}

func (b *linkBench) round(ctx context.Context, i int) ([]Measure, error) {
	amount := min(b.c.Amount, int64(b.size)*maxFrames)
	frames := max(1, int(amount)/b.size/len(b.sources)) * len(b.sources)
	amount = int64(frames) * int64(b.size)
	var cpu time.Duration
	ours, theirs, err := compareTimes(i, func() (time.Duration, error) {
		before := usageOf(b.cluster.pids()...)
		took, err := b.send(ctx, frames)
		cpu = usageOf(b.cluster.pids()...).since(before).cpu
		return took, err
	}, func() (time.Duration, error) { return writePlain(b.cluster.dir, b.pool, amount) })
	if err != nil {
		return nil, err
	}
	return []Measure{
		{"frames", "/s", float64(frames) / ours.Seconds()},
		{"link", "MB/s", rate(amount, ours)},
		{"plain", "MB/s", rate(amount, theirs)},
		{"ratio", "", theirs.Seconds() / ours.Seconds()},
		{"CPU per frame", "ns", float64(cpu.Nanoseconds()) / float64(frames)},
		{"CPU per byte", "ns", float64(cpu.Nanoseconds()) / float64(amount)},
	}, nil
}

// maxFrames bounds the duration of a round of small frames.
const maxFrames = 200_000

// send orders frames, and returns the time from the order until the last of them was durable at the sink.
func (b *linkBench) send(ctx context.Context, frames int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	b.sent += frames
	begin := time.Now()
	durable := make(chan error, 1)
	go func() { durable <- ask(ctx, b.sink, encodeWait(b.sent)) }()
	var err error
	for _, s := range b.sources {
		err = errors.Join(err, ask(ctx, s, order{frames / len(b.sources), b.size}.encode()))
	}
	if err != nil {
		cancel()
	}
	err = errors.Join(err, <-durable)
	return time.Since(begin), err
}

const sendTime = 2 * time.Minute

func ask(ctx context.Context, to *zmqx.Req, question []byte) error {
	answer, err := to.Do(ctx, zmqx.Message{question})
	if err == nil && (len(answer) != 1 || string(answer[0]) != "ok") {
		err = fmt.Errorf("asked to %s, a node says: %s", question, answer[0])
	}
	return err
}
