package nodes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
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

	// Headroom is how many bytes of garbage may gather before they are collected, beside a tenth of what the node's live data has.
	// 0, for tests with many nodes in a process, collects often; large values are memory for processor time. Above 0 the
	// process belongs to the node, which then also limits its memory to what it needs.
	Headroom int

	// Disk is what the node's log is written through; nil means the operating system. With wal.Unsynced nothing is durable and
	// R3 is broken: for measuring what durability costs, and for nothing else. That is why no setting of the topology leads here.
	Disk wal.FS

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
	spare := newHeadroom(c.Headroom)
	defer spare.release()
	var memory *memoryLimit
	if c.Headroom > 0 {
		limitProcessors(c.Topology, n)
		memory = newMemoryLimit()
	}
	for retired := false; ; retired = true {
		err := runLog(ctx, &node{cfg: c, node: n, memory: memory, started: time.Now()}, !retired)
		if !errors.Is(err, errRetired) {
			return err
		}
	}
}

// runLog runs a node until ctx is cancelled, or until its log has to be retired (R14): then it has done so, if it may, and returns errRetired.
func runLog(ctx context.Context, x *node, mayRetire bool) (err error) {
	c, n := x.cfg, x.node
	analysis := core.NewLogAnalysis()
	log, err := wal.Open(n.DataDir, wal.Options{
		SegmentSize: int(c.Topology.Limits.Segment), FS: c.Disk, Logger: c.Log,
		OnRecord: func(i wal.Index, _ byte, data []byte) { analysis.Add(logIndex(i), data) },
	})
	if err != nil {
		return fmt.Errorf("node %s: open its data: %w", n.ID, err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	x.log = log
	id := log.Identity()
	x.id = link.Identity{LogID: id.LogID, Incarnation: link.Incarnation(id.Incarnation), Life: link.Life(id.Life)}
	if err := x.open(); err != nil {
		return errors.Join(err, x.close())
	}
	err = x.recover(analysis)
	if err == nil {
		c.Log.Info("running", "log", x.id.LogID, "incarnation", x.id.Incarnation)
		err = x.run(ctx)
	}
	if errors.Is(err, errRetired) {
		err = x.retire(mayRetire)
	}
	return errors.Join(err, x.close())
}

// node is a running node. Its fields belong to the loop.
type node struct {
	cfg     Config
	node    topology.Node
	log     *wal.Log
	id      link.Identity
	core    *core.Core
	memory  *memoryLimit // nil where the process is not the node's alone
	tr      link.Transport
	router  *zmqx.Router // nil for a node that clients do not talk to
	started time.Time
	state   heartbeat.State

	jobs       chan job
	answers    chan done
	busy       bool      // the committer has a job
	failed     *job      // a job that found the disk full
	retryAt    time.Time // when to try it again
	snapAt     wal.Index // the last snapshot
	logBytes   int64
	sinceCut   int64 // bytes appended since the last snapshot
	inherited  bool  // the first commit stores what the log before left (R14)
	snapSize   int64
	idleAt     time.Time // since when nothing was under way
	beatAt     time.Time
	lastCut    time.Time
	reportedAt time.Time // something that was not believed
	flush      flushTimer
	alarm      *alarm
}

// open makes the core and opens the sockets.
func (x *node) open() error {
	cfg, err := coreConfig(x.cfg, x.node, x.id)
	if err != nil {
		return err
	}
	if x.core, err = core.New(cfg); err != nil {
		return err
	}
	if x.tr, err = newTransport(x.cfg.Topology, x.node, x.cfg.Log); err != nil {
		return err
	}
	return x.openRouter()
}

func (x *node) openRouter() (err error) {
	if !x.node.Sockets.Client.Exists() {
		return nil
	}
	l := x.cfg.Topology.Limits
	x.router, err = zmqx.NewRouter(zmqx.Options{
		MaxFrame: int(l.Frame), ReportTooLarge: true, QueueBytes: int(l.Frame) + 1<<20, HandshakeTimeout: l.Handshake,
		Linger: min(l.Drain, routerLinger), Logger: x.cfg.Log,
	})
	if err != nil {
		return err
	}
	if _, err := x.router.Listen(x.node.Sockets.Client.Bind); err != nil {
		return fmt.Errorf("node %s: listen for clients: %w", x.node.ID, err)
	}
	return nil
}

const routerLinger = 500 * time.Millisecond

func (x *node) close() error {
	var errs []error
	if x.tr != nil {
		errs = append(errs, x.tr.Close())
	}
	if x.router != nil {
		errs = append(errs, x.router.Close())
	}
	return errors.Join(errs...)
}
