package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/medic/host"
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

// FenceDir is where hosts keep what they have seen, below the directory of the nodes' data.
const FenceDir = "fence"

// Config says which medic to run.
type Config struct {
	Topology  *topology.Topology
	Medic     topology.NodeID
	Hosts     []string // that are this machine
	Restarter medic.Restarter
	Log       *slog.Logger
}

// Run runs a medic until ctx ends; nil after that. Orders that are being carried out are waited for.
func Run(ctx context.Context, c Config) (err error) {
	n, err := c.Topology.Medic(c.Medic)
	if err != nil {
		return err
	}
	if !slices.Contains(c.Hosts, n.Host) {
		c.Hosts = append(slices.Clone(c.Hosts), n.Host)
	}
	c.Log = c.Log.With("medic", n.ID)
	log, err := wal.Open(n.DataDir, wal.Options{Writer: wal.DirectWriter, SegmentSize: 1 << 20, Logger: c.Log})
	if err != nil {
		return fmt.Errorf("medic %s: open its data: %w", n.ID, err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s := &station{cfg: c, node: n, log: log, hosts: map[string]*host.Host{}, stop: make(chan struct{})}
	if err := s.open(); err != nil {
		return errors.Join(fmt.Errorf("medic %s: %w", n.ID, err), s.close())
	}
	err = s.run(ctx)
	return errors.Join(err, s.close())
}

// station is a running medic. Its fields belong to the loop.
type station struct {
	cfg   Config
	node  topology.Node
	log   *wal.Log
	core  *core.Core
	hosts map[string]*host.Host
	from  []topology.Node // by endpoint of sub

	pub *zmqx.Pub
	sub *zmqx.Sub

	jobs    chan job
	answers chan error
	busy    bool
	reports chan core.Report
	ends    chan []end
	stop    chan struct{}
	hands   sync.WaitGroup // everything that is beside the loop

	shown time.Time // the journal
	term  core.Term // the last that was logged

	newest atomic.Pointer[core.Term] // for hands, who are beside the loop
}

func (s *station) open() error {
	state, err := restore(s.log)
	if err != nil {
		return err
	}
	for _, name := range s.cfg.Hosts {
		if s.hosts[name], err = host.Open(filepath.Join(s.cfg.Topology.DataDir, FenceDir), name, s.node.ID, s.cfg.Restarter); err != nil {
			return err
		}
		switch f, err := s.hosts[name].Seen(); {
		case err != nil: // no order is carried out there, and the journal says why
			s.cfg.Log.Warn("what the host has seen is not known", "host", name, "err", err)
		case f.Term.Gen > state.Fence.Gen:
			state.Fence = f.Term
		}
	}
	s.core = core.New(s.config(), state, time.Now())
	if s.pub, err = zmqx.NewPub(zmqx.Options{MaxFrame: maxFrame, Logger: s.cfg.Log}); err != nil {
		return err
	}
	if _, err = s.pub.Listen(s.node.Sockets.Control.Bind); err != nil {
		return err
	}
	return s.subscribe()
}

// maxFrame bounds messages; the largest is a journal, of some ten KiB.
const maxFrame = 2 << 20

func (s *station) subscribe() (err error) {
	// A short pause between attempts: who was just started has to be heard soon. And who is silent may have been started again
	// elsewhere: a container that was cut off and connected again has another address, and nobody closed the old connection.
	if s.sub, err = zmqx.NewSub(zmqx.Options{MaxFrame: maxFrame, BackoffMax: s.cfg.Topology.Medics.Heartbeat, Logger: s.cfg.Log,
		MaxSilence: s.cfg.Topology.Medics.SuspectAfter}); err != nil {
		return err
	}
	for _, topic := range []string{BeatTopic, MessageTopic} {
		if err := s.sub.Subscribe(topic); err != nil {
			return err
		}
	}
	for _, n := range s.cfg.Topology.All() {
		if n.ID == s.node.ID {
			continue
		}
		s.from = append(s.from, n)
		if _, err := s.sub.Connect(n.Sockets.Control.Dial); err != nil {
			return err
		}
	}
	return nil
}

func (s *station) config() core.Config {
	t, id := s.cfg.Topology, s.log.Identity()
	return core.Config{
		Self: s.node.ID, ID: core.Identity{LogID: id.LogID, Incarnation: id.Incarnation, PID: os.Getpid()}, Reach: s.cfg.Hosts,
		Medics: members(t.MedicNodes()), Nodes: members(t.Nodes()),
		Heartbeat: t.Medics.Heartbeat, SuspectAfter: t.Medics.SuspectAfter,
	}
}

func members(nodes []topology.Node) []core.Member {
	all := make([]core.Member, len(nodes))
	for i, n := range nodes {
		all[i] = core.Member{ID: n.ID, Host: n.Host}
	}
	return all
}

// targets is who this medic can restart.
func (s *station) targets() (ids []core.NodeID) {
	for _, n := range s.from {
		if s.hosts[n.Host] != nil {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func (s *station) close() error {
	var errs []error
	if s.sub != nil {
		errs = append(errs, s.sub.Close())
	}
	if s.pub != nil {
		errs = append(errs, s.pub.Close())
	}
	return errors.Join(errs...)
}
