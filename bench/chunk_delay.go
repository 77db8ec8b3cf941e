package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/link/keyed"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// The delay of a chunk is the time from its acknowledgement until its effect: all of its rows are in the aggregator's state, and the commit
// with the last of them is on the aggregator's disk. In between are the input's outbox, two links, and the commits of a joiner and of the
// aggregator. The client's clock measures both moments; the client learns of each by a reply over a socket.
const (
	probedChunks = 200 // in a round, on the idle and on the busy cluster each
	effectPace   = 5 * time.Millisecond
	busyFacts    = 100_000 // of each session that keeps the cluster busy
	busySessions = 2       // at a time
)

// effectTopology returns the contestant's topology, except that one node, which can be asked for the effect, runs the
// aggregator and all stages after it. These stages start to work when a session's last chunk has had its effect.
func effectTopology(c *Config, dir string, v topology.Variant) string {
	entry, parsers := `chain = ["input", "parser"]`, ""
	feeder := "input"
	if v.SplitParsers {
		feeder, entry = "parser", `chain = ["input"]`
		parsers = stageText("parser", "", max(1, v.Replicas["parser"])) + edgeText("input", "parser", "facts", "push", "any", "") +
			edgeText("input", "parser", "reference", "push", "any", "")
	}
	joiners := v.Replicas["joiner"]
	if joiners == 0 {
		joiners = 2
	}
	stages := stageText("input", entry, 1) + parsers + stageText("joiner", "", joiners) +
		stageText("effect", `chain = ["aggregator", "reducer", "output"]`, 1)
	edges := edgeText(feeder, "joiner", "facts", "push", "any", "") + edgeText(feeder, "joiner", "reference", "pub", "all", "") +
		edgeText("joiner", "effect", "all", "push", "hash", "session") // there is one aggregator, so it gets every key
	return benchTopology(c, dir, "effect", stages+edges, v.Settings)
}

func stageText(name, chain string, replicas int) string {
	return fmt.Sprintf("[[stage]]\nname = %q\n%s\nreplicas = %d\n", name, chain, replicas)
}

func edgeText(from, to, streams, socket, route, key string) string {
	text := fmt.Sprintf("[[edge]]\nfrom = %q\nto = %q\nstreams = %q\nsocket = %q\nroute = %q\n", from, to, streams, socket, route)
	if key != "" {
		text += fmt.Sprintf("key = %q\n", key)
	}
	return text
}

// chunkDelays returns the delays of chunks on an idle cluster and on a busy one, in the order of sending.
func (x *contestant) chunkDelays(ctx context.Context, c *Config, load *loadData) (idle, busy []time.Duration, err error) {
	n, err := x.startEffect(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	if idle, err = x.probe(ctx, c, n, "idle"); err != nil {
		return nil, nil, err
	}
	l, err := load.start(ctx, c, x.effectLabel(), n.topo.File)
	if err != nil {
		return nil, nil, err
	}
	busy, err = x.probe(ctx, c, n, "busy")
	return idle, busy, errors.Join(err, l.stop())
}

// idleChunkDelays measures on an idle cluster only.
func (x *contestant) idleChunkDelays(ctx context.Context, c *Config) (idle []time.Duration, err error) {
	n, err := x.startEffect(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	return x.probe(ctx, c, n, "idle")
}

func (x *contestant) effectLabel() string { return x.name + "-effect" }

// startEffect starts a cluster that can be asked whether a chunk has had its effect.
func (x *contestant) startEffect(ctx context.Context, c *Config) (*cluster, error) {
	return startCluster(ctx, c, clusterPlan{label: x.effectLabel(), verb: "effect", broker: x.broker, variant: *x.cluster,
		text: effectTopology})
}

// probe starts a client that measures chunks on a cluster.
func (x *contestant) probe(ctx context.Context, c *Config, n *cluster, what string) ([]time.Duration, error) {
	o, err := c.run(ctx, x.effectLabel()+"-"+what, "probe", n.topo.File, fmt.Sprint(c.probedChunks()))
	return o.Times, err
}

// runProbe is the client of rowsByChunk. It sends one chunk at a time, each at the first tick after the effect of the
// previous one.
func runProbe(ctx context.Context, file, count string) (err error) {
	n, t, err := countOn(file, count)
	if err != nil {
		return err
	}
	keys, err := clientKeys(t)
	if err != nil {
		return err
	}
	p := &chunkProber{id: session.New(), token: session.NewToken()}
	if p.entry, err = requesterTo(t.Holding(topology.Input)[0], keys); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.entry.Close()) }()
	if p.observer, err = requesterTo(t.Holding(topology.Output)[0], keys); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.observer.Close()) }()
	times, err := p.run(ctx, n)
	if err != nil {
		return err
	}
	return reportTimes(times, cpuTime())
}

func requesterTo(n topology.Node, keys *security.Keys) (*zmqx.Req, error) {
	r, err := zmqx.NewReq(zmqx.Options{TLS: keyed.TLS(keys, security.ClientAPI, nil)})
	if err == nil {
		err = r.ConnectTo(n.Sockets.Client.Dial, n.Identity().String())
	}
	return r, err
}

// chunkProber speaks the protocol itself, because the client library does not report single chunks.
type chunkProber struct {
	id              session.ID
	token           session.Token
	entry, observer *zmqx.Req
}

func (p *chunkProber) run(ctx context.Context, n int) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	if err := p.request(ctx, &protocol.Request{Type: protocol.Open, Session: p.id, Token: p.token, Analysis: rowsByChunk.Name},
		protocol.Opened); err != nil {
		return nil, err
	}
	tick := time.NewTicker(effectPace)
	defer tick.Stop()
	var times []time.Duration
	for chunk := 1; chunk <= n; chunk++ {
		<-tick.C
		took, err := p.chunk(ctx, chunk)
		if err != nil {
			return nil, fmt.Errorf("chunk %d: %w", chunk, err)
		}
		times = append(times, took)
	}
	return times, p.request(ctx, &protocol.Request{Type: protocol.Cancel, Session: p.id, Token: p.token}, protocol.OK)
}

// chunk sends a chunk and returns the time from its acknowledgement to its effect. It asks the observer first, over
// another socket, so that the observer answers as soon as the effect is there.
func (p *chunkProber) chunk(ctx context.Context, n int) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var effect time.Time
	seen := make(chan error, 1)
	go func() {
		err := ask(ctx, p.observer, encodeWatch(n))
		effect = time.Now()
		seen <- err
	}()
	err := p.request(ctx, &protocol.Request{
		Type: protocol.Chunk, Session: p.id, Token: p.token, Stream: rowsByChunk.Name, Seq: uint64(n), File: "chunks.csv",
		Line:   2 + uint64(n-1)*chunkRows,
		Header: []byte(chunkHeader), Data: chunkOf(n),
	}, protocol.OK)
	acknowledged := time.Now()
	if err != nil {
		cancel()
	}
	err = errors.Join(err, <-seen)
	// The observer's reply may overtake the acknowledgement, because its path is shorter. Then the delay is 0.
	return max(0, effect.Sub(acknowledged)), err
}

func (p *chunkProber) request(ctx context.Context, q *protocol.Request, want protocol.ReplyType) error {
	answer, err := p.entry.Do(ctx, zmqx.Message{q.Append(nil)})
	if err != nil {
		return err
	}
	reply, err := protocol.DecodeReply(bytes.Join(answer, nil))
	if err == nil {
		err = reply.Failure()
	}
	if err == nil && reply.Type != want {
		err = fmt.Errorf("to %s the input answers %s", q.Type, reply.Type)
	}
	return err
}
