package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// A chunk's effect: from the moment in which the client has its acknowledgement, until the client is told that all of its rows are in the
// aggregator's state, and that the commit which holds the last of them is on the aggregator's disk. In between are the input's outbox,
// two links, and the commits of a joiner and of the aggregator. Both moments are read from the client's clock, and both ends of the way are
// told by a reply over a socket.
const (
	effectChunks = 200 // in a round, idle and busy each
	effectPace   = 5 * time.Millisecond
	busyFacts    = 100_000 // of each session that keeps the cluster busy
	busySessions = 2       // at a time
)

// effectTopology is the contestant's, but for what is behind the aggregator: the node that can be asked holds it. Its work begins
// when a session's last chunk has had its effect.
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
		edgeText("joiner", "effect", "all", "push", "hash", "session") // one node: every key leads there
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

// effects are the delays of chunks on an idle cluster and on a busy one, in the order they were sent.
func (x *contestant) effects(ctx context.Context, c *Config, load *loadData) (idle, busy []time.Duration, err error) {
	label := x.name + "-effect"
	n, err := startCrew(ctx, c, layout{label: label, verb: "effect", broker: x.broker, variant: *x.cluster, text: effectTopology})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	probe := func(what string) ([]time.Duration, error) {
		o, err := c.run(ctx, label+"-"+what, "probe", n.topo.File, fmt.Sprint(c.effectChunks()))
		return o.Times, err
	}
	if idle, err = probe("idle"); err != nil {
		return nil, nil, err
	}
	l, err := load.start(ctx, c, label, n.topo.File)
	if err != nil {
		return nil, nil, err
	}
	busy, err = probe("busy")
	return idle, busy, errors.Join(err, l.stop())
}

// effectChunks is fewer where little is asked for.
func (c *Config) effectChunks() int {
	if c.Rows > 0 {
		return max(1, min(effectChunks, c.Rows/markRows))
	}
	return effectChunks
}

// runProbe is the client of marks: one chunk after the other, each when the one before it has had its effect, and then at the next beat of
// the pace.
func runProbe(ctx context.Context, file, count string) (err error) {
	n, t, err := countOn(file, count)
	if err != nil {
		return err
	}
	p := &prober{id: session.New()}
	if p.entry, err = requesterTo(t.EntryPoints()[0]); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.entry.Close()) }()
	if p.witness, err = requesterTo(t.Outputs()[0]); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.witness.Close()) }()
	times, err := p.run(ctx, n)
	if err != nil {
		return err
	}
	return tellTimes(times)
}

func requesterTo(endpoint string) (*zmqx.Req, error) {
	r, err := zmqx.NewReq(zmqx.Options{})
	if err == nil {
		err = r.Connect(endpoint)
	}
	return r, err
}

// prober speaks the protocol itself: the client library does not tell of single chunks.
type prober struct {
	id             session.ID
	entry, witness *zmqx.Req
}

func (p *prober) run(ctx context.Context, n int) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	if err := p.say(ctx, &protocol.Request{Type: protocol.Open, Session: p.id, Analysis: marks.Name}, protocol.Opened); err != nil {
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
	return times, p.say(ctx, &protocol.Request{Type: protocol.Cancel, Session: p.id}, protocol.OK)
}

// chunk sends one and returns the time from its acknowledgement to its effect. The witness is asked before, and by another socket, so
// that the answer comes by itself.
func (p *prober) chunk(ctx context.Context, n int) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var effect time.Time
	seen := make(chan error, 1)
	go func() {
		err := ask(ctx, p.witness, encodeWatch(n))
		effect = time.Now()
		seen <- err
	}()
	err := p.say(ctx, &protocol.Request{
		Type: protocol.Chunk, Session: p.id, Stream: "marks", Seq: uint64(n), File: "marks.csv", Line: 2 + uint64(n-1)*markRows,
		Header: []byte(markHeader), Data: markChunk(n),
	}, protocol.OK)
	acknowledged := time.Now()
	if err != nil {
		cancel()
	}
	err = errors.Join(err, <-seen)
	// An effect that is told before the acknowledgement came by the shorter way back: nobody has waited for it.
	return max(0, effect.Sub(acknowledged)), err
}

func (p *prober) say(ctx context.Context, q *protocol.Request, want protocol.ReplyType) error {
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

// loadData is what keeps a cluster busy, and the answers it must give all the while.
type loadData struct {
	dir   string
	right []byte
}

func (c *Config) loadData(ctx context.Context, s *subject) (*loadData, error) {
	facts := busyFacts
	if c.Rows > 0 {
		facts = min(facts, c.Rows)
	}
	dir, _, err := s.tidied(c.Dir, facts)
	if err != nil {
		return nil, err
	}
	right, err := oracleAlone(ctx, c, s, dir)
	return &loadData{dir, right.answer}, err
}

// siege is the process that keeps a cluster busy.
type siege struct {
	data      *loadData
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	read      sync.WaitGroup
	forget    func() bool // that the process ends with the context
}

// start returns when the first session has been answered: from then on some are always under way.
func (d *loadData) start(ctx context.Context, c *Config, label, file string) (*siege, error) {
	l := &siege{data: d, cmd: c.command(label+"-load", "load", file, "bikes", d.dir)}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.cmd.Stderr = &l.errs
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	l.forget = context.AfterFunc(ctx, func() { _ = l.cmd.Process.Kill() }) // it may have ended
	warm := make(chan struct{})
	l.read.Add(1)
	go func() {
		defer l.read.Done()
		r := bufio.NewReader(out)
		_, err := r.ReadString('\n')
		close(warm)
		if err == nil {
			_, _ = l.out.ReadFrom(r) // what is missing is missed by stop
		}
	}()
	<-warm // or it has ended, and stop says how
	return l, nil
}

func (l *siege) wait() error {
	defer l.forget()
	l.read.Wait()
	return l.cmd.Wait()
}

// stop lets the sessions that are under way end, and compares the answers of the last one.
func (l *siege) stop() error {
	_ = l.cmd.Process.Signal(syscall.SIGTERM) // it may have failed, and gone
	if err := l.wait(); err != nil {
		return fmt.Errorf("what kept the cluster busy: %w: %s", err, l.errs.Bytes())
	}
	told, err := decodeTold(&l.out)
	if err == nil && !bytes.Equal(told.Answer, l.data.right) {
		err = errAnswers
	}
	return err
}

// runLoad runs one session after the other, some at a time, until it is told to end, and tells the last answer.
func runLoad(ctx context.Context, file, analysis, dir string) error {
	begin := time.Now()
	t, err := topology.Load(file)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var warm sync.Once
	var last atomic.Pointer[client.Answer]
	errs := make([]error, busySessions)
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range busySessions {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for stop.Err() == nil && errs[i] == nil {
				var a *client.Answer
				// Not under ctx: a session that has begun is answered.
				a, errs[i] = client.Run(context.WithoutCancel(ctx), client.Config{Entries: t.EntryPoints(), Analysis: analysis, Dir: dir})
				if errs[i] != nil {
					cancel()
					continue
				}
				last.Store(a)
				warm.Do(func() { fmt.Println("warm") })
			}
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return tell(begin, last.Load(), nil)
}
