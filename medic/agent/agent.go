package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/link/keyed"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/medic/host"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
	"posta.dev/posta/zmqx"
)

// Topics of control sockets.
const (
	BeatTopic    = "H" // nodes
	MessageTopic = "M" // medics
	JournalTopic = "J" // a medic's whole journal, as a message of kind Entries
)

// FenceDir is the directory of the hosts' fences, below the directory of the nodes' data.
const FenceDir = "fence"

// Config is the configuration of a medic.
type Config struct {
	Topology  *topology.Topology
	Medic     topology.NodeID
	Hosts     []string // names of the hosts in the topology that are this machine
	Restarter medic.Restarter
	Log       *slog.Logger
	Keys      *security.Keys // of the medic (S3); nil: its sockets speak plain ZMTP, and it trusts every peer
	// Leave puts a file into a node's data directory before the node is started. nil: the directory is on this machine, and the medic writes
	// the file directly.
	Leave func(ctx context.Context, node topology.Node, name string, data []byte) error
}

// Run runs a medic until ctx ends, and then returns nil. It waits for orders that are being carried out.
func Run(ctx context.Context, c Config) (err error) {
	n, err := c.Topology.Medic(c.Medic)
	if err != nil {
		return err
	}
	if !slices.Contains(c.Hosts, n.Host) {
		c.Hosts = append(slices.Clone(c.Hosts), n.Host)
	}
	c.Log = c.Log.With("medic", n.ID)
	if err := owned.Tree(n.DataDir); err != nil {
		return fmt.Errorf("keep the data of medic %s from others: %w", n.ID, err)
	}
	log, err := wal.Open(n.DataDir, wal.Options{SegmentSize: 1 << 20, Logger: c.Log})
	if err != nil {
		return fmt.Errorf("medic %s: open its data: %w", n.ID, err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	a := &agent{
		cfg: c, node: n, log: log, disk: storage{log: log, reserve: filepath.Join(n.DataDir, reserveFile)}, hosts: map[string]*host.Host{},
		stored: make(chan error, 1), reports: make(chan core.Report), ends: make(chan []processEnd), unwatch: func() {},
	}
	a.life, a.end = context.WithCancel(context.WithoutCancel(ctx))
	defer a.end()
	if err := a.open(); err != nil {
		return errors.Join(fmt.Errorf("medic %s: %w", n.ID, err), a.close())
	}
	err = a.run(ctx)
	return errors.Join(err, a.close())
}

// agent is a running medic. Its fields belong to the loop.
type agent struct {
	cfg   Config
	node  topology.Node
	log   *wal.Log
	disk  storage
	core  *core.Core
	hosts map[string]*host.Host
	from  []topology.Node // the member that each endpoint of sub belongs to

	pub *zmqx.Pub
	sub *zmqx.Sub

	unwatch func() // ends the recheck of the sockets at each Reload of the keys

	life    context.Context // ends with the loop: from then on nobody receives from tasks
	end     context.CancelFunc
	tasks   sync.WaitGroup // counts all goroutines beside the loop
	storing bool           // a storing task runs; it owns disk
	full    bool           // the last store found the disk full
	retryAt time.Time      // when to try to store again on a full disk
	stored  chan error     // the storing task's result; buffered, so that the task can end without the loop
	reports chan core.Report
	ends    chan []processEnd
	newest  atomic.Pointer[core.Term] // the newest known term; tasks read it

	published     time.Time // when the journal was last published
	logged        core.Term // the term that was logged last
	loggedLeading bool      // whether this medic led then
	counts        *counts   // nil: the topology gives the medic no address for metrics
}

func (a *agent) open() error {
	state, err := a.disk.restore()
	if err != nil {
		return err
	}
	if err := medic.ReserveSlots(a.disk.reserve); err != nil {
		a.cfg.Log.Warn("an election may need room on the disk", "file", a.disk.reserve, "err", err)
	}
	for _, name := range a.cfg.Hosts {
		if a.hosts[name], err = host.Open(filepath.Join(a.cfg.Topology.DataDir, FenceDir), name, a.node.ID, a.cfg.Restarter); err != nil {
			return err
		}
		a.hosts[name].Tell = a.tell
		if err := a.hosts[name].Reserve(a.on(name)); err != nil {
			a.cfg.Log.Warn("restarts on the host may need room on the disk", "host", name, "err", err)
		}
		switch f, err := a.hosts[name].Seen(); {
		case err != nil: // no order is carried out on that host, and the journal gives the reason
			a.cfg.Log.Warn("the fence of the host cannot be read", "host", name, "err", err)
		case f.Term.Gen > state.Fence.Gen:
			state.Fence = f.Term
		}
	}
	a.core = core.New(a.config(), state, time.Now())
	if a.pub, err = zmqx.NewPub(zmqx.Options{MaxFrame: maxFrame, Logger: a.cfg.Log, Accepts: a.accepts(),
		TLS: keyed.TLS(a.cfg.Keys, security.Control, keyed.Listeners(a.cfg.Topology))}); err != nil {
		return err
	}
	if _, err = a.pub.Listen(a.node.Sockets.Control.Bind); err != nil {
		return err
	}
	if err := a.subscribe(); err != nil {
		return err
	}
	if err := a.openMetrics(); err != nil {
		return err
	}
	a.unwatch = a.cfg.Keys.OnReload(a.recheck)
	a.recheck() // the keys may have changed since the first socket was opened
	return nil
}

// recheck closes connections of peers that the keys no longer admit.
func (a *agent) recheck() {
	a.pub.Recheck()
	a.sub.Recheck()
}

// accepts limits incoming connections, so that file descriptors remain for the medic's own connections, its files, and the processes that
// it starts.
func (a *agent) accepts() *zmqx.AcceptLimit {
	const own = 32
	return zmqx.NewAcceptLimit(zmqx.OpenFiles()-own-len(a.cfg.Topology.All()), a.cfg.Log)
}

// maxFrame bounds messages; the largest is a journal, of some ten KiB.
const maxFrame = 2 << 20

// leastBackoff is the shortest pause between attempts to connect. It holds even if heartbeats are more frequent.
const leastBackoff = 10 * time.Millisecond

func (a *agent) subscribe() (err error) {
	// The pause between attempts is short, because a node that was just started must be heard soon. A silent connection is dialled again: a
	// container that was disconnected and connected again has another address, and nobody closed the old connection.
	if a.sub, err = zmqx.NewSub(zmqx.Options{MaxFrame: maxFrame, BackoffMax: max(leastBackoff, a.cfg.Topology.Medics.Heartbeat/4),
		Logger:     a.cfg.Log,
		MaxSilence: a.cfg.Topology.Medics.SuspectAfter,
		TLS:        keyed.TLS(a.cfg.Keys, security.Control, keyed.Only(a.cfg.Topology.All()))}); err != nil {
		return err
	}
	for _, topic := range []string{BeatTopic, MessageTopic} {
		if err := a.sub.Subscribe(topic); err != nil {
			return err
		}
	}
	for _, n := range a.cfg.Topology.All() {
		if n.ID == a.node.ID {
			continue
		}
		a.from = append(a.from, n)
		if _, err := a.sub.ConnectTo(n.Sockets.Control.Dial, n.Identity().String()); err != nil {
			return err
		}
	}
	return nil
}

func (a *agent) config() core.Config {
	t, id := a.cfg.Topology, a.log.Identity()
	return core.Config{
		Self: a.node.ID, ID: core.Identity{LogID: a.logID(), Incarnation: id.Incarnation, PID: os.Getpid()}, Life: id.Life, Reach: a.cfg.Hosts,
		Medics: members(t.MedicNodes()), Nodes: members(t.Nodes()),
		Heartbeat: t.Medics.Heartbeat, SuspectAfter: t.Medics.SuspectAfter, StuckAfter: t.Medics.StuckAfter,
	}
}

// logID identifies the log and this opening of it. A medic whose directory was set back counts its incarnations from a lower number again.
// Because each opening counts as a log of its own, peers do not ignore the medic as a superseded incarnation (R14).
func (a *agent) logID() [16]byte {
	id := a.log.Identity()
	binary.LittleEndian.PutUint64(id.LogID[8:], id.Life)
	return id.LogID
}

func members(nodes []topology.Node) []core.Member {
	all := make([]core.Member, len(nodes))
	for i, n := range nodes {
		all[i] = core.Member{ID: n.ID, Host: n.Host}
	}
	return all
}

// on returns the nodes and medics of a host.
func (a *agent) on(host string) (ids []core.NodeID) {
	for _, n := range a.cfg.Topology.All() {
		if n.Host == host {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// targets returns what this medic can restart.
func (a *agent) targets() (ids []core.NodeID) {
	for _, n := range a.from {
		if a.hosts[n.Host] != nil {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func (a *agent) close() error {
	a.unwatch()
	a.counts.close()
	var errs []error
	if a.sub != nil {
		errs = append(errs, a.sub.Close())
	}
	if a.pub != nil {
		errs = append(errs, a.pub.Close())
	}
	return errors.Join(errs...)
}
