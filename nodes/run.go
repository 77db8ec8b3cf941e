package nodes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/link"
	"posta.dev/posta/link/keyed"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/inplace"
	"posta.dev/posta/nodes/internal/watch"
	"posta.dev/posta/nodes/lastlog"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/rows/scratch"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
	"posta.dev/posta/zmqx"
)

// Config says which node to run.
type Config struct {
	Topology *topology.Topology
	Node     topology.NodeID
	Known    analyses.Set
	Version  string
	Log      *slog.Logger

	// Keys are the node's own (S3). If nil, its sockets speak plain ZMTP and trust every peer that connects.
	Keys *security.Keys

	// Headroom is how many bytes of garbage may gather before they are collected, beside a tenth of the node's live data. 0, for tests with
	// many nodes in a process, collects often; large values trade memory for CPU time. If it is above 0 the process belongs to the node, which
	// then also limits its memory and its processors.
	Headroom int

	// Disk is the file system under the node's log; nil means the operating system's. With wal.Unsynced nothing is durable and R3 is broken.
	// It serves nodes that end with the program that asks (package query), and to measure the cost of durability, so no setting of the
	// topology selects it.
	Disk wal.FS

	// Direct, if set, connects clients within this process to the node, in place of sockets. The topology then has this node alone.
	Direct *Direct

	// Exit ends the process; nil if the process runs more than this node. A node whose loop hangs calls Exit (N9)
	// after it has written a note of its work, or has failed to.
	Exit func(code int)

	// Roles makes the chain of the node; nil means the product's roles. It is for programs that run other roles in the
	// engine, such as the benchmark of a bare link.
	Roles func(n topology.Node) ([]role.Role, error)
}

// Run runs a node until ctx is cancelled, and then drains it for at most limits.drain (N5). It returns nil after a
// drain, and otherwise an error that says what to do.
func Run(ctx context.Context, c Config) (err error) {
	n, err := c.Topology.Node(c.Node)
	if err != nil {
		return err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	var lines *lastlog.Ring
	if c.Direct == nil { // nobody can ask a node without sockets for its last lines
		c.Log, lines = lastlog.In(c.Log)
	}
	c.Log = c.Log.With("node", n.ID)
	if c.Direct == nil {
		err = owned.Tree(n.DataDir)
	} else if len(c.Topology.Nodes()) > 1 {
		err = errors.New("it is not the only node, and has no sockets")
	}
	if err != nil {
		return fmt.Errorf("node %s: open its data: %w", n.ID, err)
	}
	spare := newHeadroom(c.Headroom)
	defer spare.release()
	var memory *memoryLimit
	var share *processorShare
	if c.Headroom > 0 {
		share = limitProcessors(c.Topology, n)
		memory = newMemoryLimit()
	}
	counts, err := newMetrics(c, n)
	if err != nil {
		return err
	}
	defer counts.close()
	for retired := false; ; {
		err := runLog(ctx, &node{cfg: c, node: n, memory: memory, processors: share, metrics: counts, lines: lines,
			linesAsked: make(chan struct{}, 1)}, retired)
		switch {
		case errors.Is(err, shell.ErrDrained):
			return nil
		case errors.Is(err, shell.ErrRetired):
			retired = true
		case !errors.Is(err, errRepaired):
			return err
		}
	}
}

// runLog runs a node on one log until its loop ends. again says that this process has already retired a log.
func runLog(ctx context.Context, x *node, again bool) (err error) {
	started := time.Now()
	defer func() { err = closed(err, x.close()) }()
	analysis, err := x.openLog(ctx, started)
	if err == nil {
		err = x.recover(ctx, started, again, analysis)
	}
	if damage, is := damaged(err); is {
		return x.waitForRepair(ctx, damage)
	}
	// A node that is stopped before its loop has begun does not drain: all that it would have sent is in its log.
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil
	}
	if err != nil {
		return err
	}
	x.metrics.recovered(time.Since(started))
	x.cfg.Log.Info("running", "log", x.id.LogID, "incarnation", x.id.Incarnation)
	return x.run(ctx)
}

// closed joins the loop's error with those of closing. If the loop ended as intended, only an error of closing counts.
func closed(err, closing error) error {
	if closing != nil && (errors.Is(err, shell.ErrDrained) || errors.Is(err, shell.ErrRetired) || errors.Is(err, errRepaired)) {
		return closing
	}
	return errors.Join(err, closing)
}

// node is a running node. Its fields belong to the loop.
type node struct {
	cfg        Config
	node       topology.Node
	watch      watch.Watch
	beats      *beats        // nil until the data directory is locked
	notes      *notes        // nil until recovery
	id         link.Identity // temporary until the log is open
	shell      *shell.Shell
	log        *wal.Log        // nil while it is not open
	memory     *memoryLimit    // nil if the process runs more than this node
	processors *processorShare // nil if there is nothing to give back
	metrics    nodeMetrics
	tr         link.Transport
	lines      *lastlog.Ring // nil if nobody can ask for them
	// linesAsked holds a value while somebody waits for the last lines of the log.
	linesAsked chan struct{}
	router     clientSocket    // nil for a node that clients do not talk to
	files      *inplace.Reader // nil for a node that reads no files
	// preparing is nil for a node that reads no files.
	preparing *preparing
	unwatch   func() // stops the keys' Reload from rechecking the router

	synced  time.Duration  // by the log's fsyncs since the committer's job began; the committer owns it while it runs
	jobs    chan shell.Job // to the committer; empty whenever the shell has another job
	answers chan shell.Answer
}

// recover makes the shell and replays the log into it.
func (x *node) recover(ctx context.Context, now time.Time, again bool, analysis *core.LogAnalysis) error {
	cfg, err := shellConfig(x.cfg, x.node, x.id)
	if err != nil {
		return err
	}
	x.metrics.count(&cfg)
	cfg.Core.Trace = recorder(&cfg.Core)
	cfg.Again, cfg.Core.Watch, cfg.Core.Files = again, &x.watch, x.log
	cfg.Core.Scratch = scratchDisk{x.log}
	if x.cfg.Direct == nil {
		cfg.Lost = x.lost(analysis)
	}
	if x.shell, err = shell.New(cfg, now); err != nil {
		return err
	}
	if x.cfg.Direct == nil {
		x.notes = newNotes(x, postmortem.RowTimeout-time.Since(now))
		x.beats.notes.Store(x.notes)
	}
	x.beats.waiting.Store(false)
	return x.shell.Recover(watched{x.log, ctx, x.beats}, analysis)
}

// scratchDisk makes scratch files beside a log.
type scratchDisk struct{ log *wal.Log }

func (d scratchDisk) Create() (scratch.File, error) { return d.log.NewScratch() }

// clientSocket is the socket over which clients ask; see zmqx.Router.
type clientSocket interface {
	C() <-chan []zmqx.Received
	Send(to zmqx.PeerID, msgs ...zmqx.Message) error
	Recycle(batch []zmqx.Received)
	Close() error
}

// openSockets opens the transport and the clients' socket. After an error, close closes those that are open.
func (x *node) openSockets() (err error) {
	if x.cfg.Direct != nil {
		x.tr, x.router, x.unwatch = noLinks{}, x.cfg.Direct.open(int(x.cfg.Topology.Limits.Frame)), func() {}
		return nil
	}
	accepts := acceptLimit(x.cfg.Topology, x.node, x.cfg.Log)
	if x.tr, err = newTransport(x.cfg, x.node, accepts, x.askedForLines); err != nil {
		return err
	}
	return x.openRouter(accepts)
}

func (x *node) openRouter(accepts *zmqx.AcceptLimit) (err error) {
	if !x.node.Sockets.Client.Exists() {
		return nil
	}
	l := x.cfg.Topology.Limits
	router, err := zmqx.NewRouter(zmqx.Options{
		MaxFrame: int(l.Frame), ReportTooLarge: true, Known: isRequest, QueueBytes: int(l.Frame) + 1<<20, HandshakeTimeout: l.Handshake,
		Linger: min(l.Drain, routerLinger), Logger: x.cfg.Log, Accepts: accepts,
		TLS: keyed.TLS(x.clientKeys(), security.ClientAPI, askers(x.cfg.Topology, x.node)),
	})
	if err != nil {
		return err
	}
	x.router, x.unwatch = router, x.clientKeys().OnReload(router.Recheck)
	if _, err := router.Listen(x.node.Sockets.Client.Bind); err != nil {
		return fmt.Errorf("node %s: listen for clients: %w", x.node.ID, err)
	}
	return nil
}

// clientKeys returns the keys for the clients' socket; nil for a unix socket, which only the node's user can open (S1).
func (x *node) clientKeys() *security.Keys {
	if x.node.Sockets.Client.Unix() {
		return nil
	}
	return x.cfg.Keys
}

// askers admits the clients that [clients] of the topology lists, and, at an input, the cluster's inputs. posta deploy reaches no ports, so
// it sends its requests to inputs from within their containers, with an input's key. An input may ask very little there (package gateway).
// Medics are admitted if they serve the console, which lists sessions.
func askers(t *topology.Topology, n topology.Node) func(security.Identity) error {
	inputs := func(security.Identity) error { return errors.New("only clients are served here") }
	if n.Holds(topology.Input) {
		inputs = keyed.Only(t.Holding(topology.Input))
	}
	medics := keyed.Only(t.MedicNodes())
	return func(id security.Identity) error {
		switch id.Role {
		case security.Submit, security.Watch, security.Operate:
			return nil
		case security.Medic:
			if t.Medics.Console != "" {
				return medics(id)
			}
		}
		return inputs(id)
	}
}

// routerLinger is how long closing the clients' socket may take to write queued answers.
const routerLinger = 500 * time.Millisecond

// close closes everything that is open, users before what they use. The data directory comes last: until then no other
// process can send in the node's name (N4).
func (x *node) close() error {
	var errs []error
	if x.notes != nil {
		x.beats.waiting.Store(true)
		x.notes.stop()
	}
	if x.beats != nil {
		x.beats.stop()
	}
	if x.tr != nil {
		errs = append(errs, x.tr.Close())
	}
	if x.files != nil {
		x.files.Close()
	}
	if x.router != nil {
		x.unwatch()
		errs = append(errs, x.router.Close())
	}
	if x.shell != nil {
		x.shell.Close()
	}
	return errors.Join(append(errs, x.closeLog())...)
}

func (x *node) closeLog() error {
	if x.log == nil {
		return nil
	}
	log := x.log
	x.log = nil
	return log.Close()
}
