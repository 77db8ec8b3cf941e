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
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/nodes/watch"
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

	// Keys are the node's own (S3); nil: its sockets speak plain ZMTP, and whoever reaches one is believed.
	Keys *security.Keys

	// Headroom is how many bytes of garbage may gather before they are collected, beside a tenth of what the node's live data has.
	// 0, for tests with many nodes in a process, collects often; large values are memory for processor time. Above 0 the
	// process belongs to the node, which then also limits its memory to what it needs.
	Headroom int

	// Disk is what the node's log is written through; nil means the operating system. With wal.Unsynced nothing is durable and
	// R3 is broken: for measuring what durability costs, and for nothing else. That is why no setting of the topology leads here.
	Disk wal.FS

	// Exit ends the process; nil where it is not the node's alone. A node whose loop hangs calls it (N9), once it has written down what it
	// worked on, and whether it could or not.
	Exit func(code int)

	// Roles makes the chain of the node; nil means the product's roles. It is for programs that put other roles into the
	// engine, as the benchmark of a bare link does.
	Roles func(n topology.Node) ([]role.Role, error)
}

// Run runs a node until ctx is cancelled, and then drains it for at most limits.drain (N5). It returns nil after a drain;
// any other end is an error that says what to do.
func Run(ctx context.Context, c Config) (err error) {
	n, err := c.Topology.Node(c.Node)
	if err != nil {
		return err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = c.Log.With("node", n.ID)
	if err := owned.Tree(n.DataDir); err != nil {
		return fmt.Errorf("keep the data of node %s from others: %w", n.ID, err)
	}
	spare := newHeadroom(c.Headroom)
	defer spare.release()
	var memory *memoryLimit
	if c.Headroom > 0 {
		limitProcessors(c.Topology, n)
		memory = newMemoryLimit()
	}
	for retired := false; ; {
		err := runLog(ctx, &node{cfg: c, node: n, memory: memory}, retired)
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

// runLog runs a node until its loop ends. again says that this process has retired a log already.
func runLog(ctx context.Context, x *node, again bool) (err error) {
	started := time.Now()
	defer func() { err = closed(err, x.close()) }()
	analysis, err := x.openLog(ctx, started)
	if err == nil && analysis != nil {
		err = x.recover(started, again, analysis)
	}
	if damage, is := damaged(err); is {
		return x.waitForRepair(ctx, damage)
	}
	if err != nil || analysis == nil {
		return err
	}
	x.cfg.Log.Info("running", "log", x.id.LogID, "incarnation", x.id.Incarnation)
	return x.run(ctx)
}

// closed joins why the loop ended with what closing found. Where the loop was to end, what closing found is the only error.
func closed(err, closing error) error {
	if closing != nil && (errors.Is(err, shell.ErrDrained) || errors.Is(err, shell.ErrRetired) || errors.Is(err, errRepaired)) {
		return closing
	}
	return errors.Join(err, closing)
}

// node is a running node. Its fields belong to the loop.
type node struct {
	cfg     Config
	node    topology.Node
	watch   watch.Watch
	beats   *beats        // nil before the data directory is the node's
	notes   *notes        // nil before recovery
	id      link.Identity // a passing one until the log is open
	shell   *shell.Shell
	log     *wal.Log     // nil while it is not open
	memory  *memoryLimit // nil where the process is not the node's alone
	tr      link.Transport
	router  *zmqx.Router // nil for a node that clients do not talk to
	unwatch func()       // ends that the keys' Reload rechecks the router

	jobs    chan shell.Job // the committer's; empty whenever the shell has another job
	answers chan shell.Answer
}

// recover makes the shell, and brings it to where the log ends.
func (x *node) recover(now time.Time, again bool, analysis *core.LogAnalysis) error {
	cfg, err := shellConfig(x.cfg, x.node, x.id)
	if err != nil {
		return err
	}
	cfg.Again, cfg.Core.Watch, cfg.Lost = again, &x.watch, x.lost(analysis)
	if x.shell, err = shell.New(cfg, now); err != nil {
		return err
	}
	x.notes = newNotes(x, postmortem.RowTimeout-time.Since(now))
	x.beats.waiting.Store(false)
	return x.shell.Recover(watched{x.log, x.beats}, analysis)
}

// openSockets opens what others reach the node by. What is open after an error, close closes.
func (x *node) openSockets() (err error) {
	accepts := acceptLimit(x.cfg.Topology, x.node, x.cfg.Log)
	if x.tr, err = newTransport(x.cfg, x.node, accepts); err != nil {
		return err
	}
	return x.openRouter(accepts)
}

func (x *node) openRouter(accepts *zmqx.AcceptLimit) (err error) {
	if !x.node.Sockets.Client.Exists() {
		return nil
	}
	l := x.cfg.Topology.Limits
	x.router, err = zmqx.NewRouter(zmqx.Options{
		MaxFrame: int(l.Frame), ReportTooLarge: true, Known: isRequest, QueueBytes: int(l.Frame) + 1<<20, HandshakeTimeout: l.Handshake,
		Linger: min(l.Drain, routerLinger), Logger: x.cfg.Log, Accepts: accepts, TLS: keyed.TLS(x.clientKeys(), security.ClientAPI, askers(x.cfg.Topology, x.node)),
	})
	if err != nil {
		return err
	}
	x.unwatch = x.clientKeys().OnReload(x.router.Recheck)
	if _, err := x.router.Listen(x.node.Sockets.Client.Bind); err != nil {
		return fmt.Errorf("node %s: listen for clients: %w", x.node.ID, err)
	}
	return nil
}

// clientKeys are the keys at the socket of clients; nil where it is a unix socket, which nobody but the user of the node can open (S1).
func (x *node) clientKeys() *security.Keys {
	if x.node.Sockets.Client.Unix() {
		return nil
	}
	return x.cfg.Keys
}

// askers admits those that [clients] of the topology lists, and at inputs the inputs: posta deploy reaches no ports, so what it has to ask of inputs it has asked
// from within their containers. What an input may ask there is little (package gateway).
func askers(t *topology.Topology, n topology.Node) func(security.Identity) error {
	inputs := func(security.Identity) error { return errors.New("only clients are served here") }
	if n.Holds(topology.Input) {
		inputs = keyed.Only(t.Holding(topology.Input))
	}
	return func(id security.Identity) error {
		switch id.Role {
		case security.Submit, security.Watch, security.Operate:
			return nil
		}
		return inputs(id)
	}
}

const routerLinger = 500 * time.Millisecond

// close ends what is open, in the order in which nothing misses what is closed before it. The directory is the last to be given up: until then
// nobody else speaks in the node's name (N4).
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
	if x.router != nil {
		x.unwatch()
		errs = append(errs, x.router.Close())
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
