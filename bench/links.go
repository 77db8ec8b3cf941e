package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"posta/topology"
	"posta/zmqx"
)

// measureLink sends frames from a node to a node. Every frame is in the sender's log before it leaves (R3), and counts when
// the commit that took it is in the receiver's (R5).
func measureLink(ctx context.Context, c *Config) ([]Case, error) {
	pool := newPool()
	var cases []Case
	for _, size := range c.Sizes {
		done, err := linkCase(ctx, c, pool, size)
		if err != nil {
			return nil, err
		}
		cases = append(cases, done)
	}
	return cases, nil
}

func linkCase(ctx context.Context, c *Config, pool []byte, size int) (done Case, err error) {
	dir, err := os.MkdirTemp(c.Dir, "l")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	text, err := linkTopology(c, dir)
	if err != nil {
		return done, err
	}
	x, err := startCrew(ctx, c, "link", "link", dir, text)
	if err != nil {
		return done, err
	}
	b := &bench{c: c, crew: x, dir: dir, pool: pool, size: size}
	defer func() { err = errors.Join(err, x.stop()) }()
	if err := b.dial(); err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return repeat(ctx, sizeName(size)+" frames", c.Rounds, b.round)
}

// linkTopology has two nodes: a source in place of input and parser, a sink in place of all others.
func linkTopology(c *Config, dir string) (string, error) {
	settings := strings.Builder{}
	for _, section := range []string{"limits"} {
		fmt.Fprintf(&settings, "[%s]\n", section)
		for key, value := range c.Set {
			if name, ok := strings.CutPrefix(key, section+"."); ok {
				fmt.Fprintf(&settings, "%s = %q\n", name, value)
			}
		}
	}
	host := fmt.Sprintf("address = %q", "ipc:"+socketDir(dir))
	if c.TCP > 0 {
		host = fmt.Sprintf("address = \"127.0.0.1\"\nports = %d", c.TCP)
	}
	return fmt.Sprintf(`[cluster]
name = "link"
data = "data"
[hosts.local]
%s
[[stage]]
name = "source"
chain = ["input", "parser"]
[[stage]]
name = "sink"
chain = ["joiner", "aggregator", "reducer", "output"]
[[edge]]
from = "source"
to = "sink"
streams = "facts"
route = "any"
[[edge]]
from = "source"
to = "sink"
streams = "reference"
socket = "pub"
route = "all"
[medics]
replicas = 0
%s`, host, settings.String()), nil
}

// bench is one measured link.
type bench struct {
	c            *Config
	crew         *crew
	dir          string
	pool         []byte
	size         int
	sent         int // frames in all rounds
	source, sink *zmqx.Req
}

func (b *bench) dial() error {
	for _, n := range b.crew.topo.Nodes() {
		req, err := zmqx.NewReq(zmqx.Options{})
		if err != nil {
			return err
		}
		if err := req.Connect(n.Sockets.Client.Dial); err != nil {
			return errors.Join(err, req.Close())
		}
		if n.Holds(topology.Input) {
			b.source = req
		} else {
			b.sink = req
		}
	}
	return nil
}

func (b *bench) close() error { return errors.Join(b.source.Close(), b.sink.Close()) }

func (b *bench) round(ctx context.Context, i int) ([]Measure, error) {
	amount := min(b.c.Amount, int64(b.size)*maxFrames)
	frames := int(amount) / b.size
	amount = int64(frames) * int64(b.size)
	var ours, theirs, cpu time.Duration
	ourTurn := func() (err error) {
		before := b.cpu()
		ours, err = b.send(ctx, frames)
		cpu = b.cpu() - before
		return err
	}
	theirTurn := func() (err error) {
		theirs, err = writePlain(b.dir, b.pool, amount)
		return err
	}
	if err := inTurn(i, ourTurn, theirTurn); err != nil {
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

// maxFrames bounds a round of small frames in time.
const maxFrames = 200_000

// cpu is what both nodes have spent.
func (b *bench) cpu() (total time.Duration) {
	for _, m := range b.crew.nodes {
		total += cpuTimeOf(m.cmd.Process.Pid)
	}
	return total
}

// send has frames sent and returns how long it took from the order until the last of them was durable at the sink.
func (b *bench) send(ctx context.Context, frames int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	b.sent += frames
	begin := time.Now()
	durable := make(chan error, 1)
	go func() { durable <- ask(ctx, b.sink, encodeWait(b.sent)) }()
	err := ask(ctx, b.source, order{frames, b.size}.encode())
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
