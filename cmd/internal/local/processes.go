package local

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/agent"
	"posta.dev/posta/medic/host"
	"posta.dev/posta/medic/process"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Config says which nodes the processes belong to.
type Config struct {
	Topology *topology.Topology
	Nodes    []topology.Node // the nodes of this machine
	Dir      string          // holds pids and log
	Program  []string        // the command that runs a node when "node NAME -f FILE" is appended
	Tied     bool            // the nodes die with this process
	// Keys returns the keys for listening to the nodes; nil in a cluster without keys.
	Keys func() (*security.Keys, error)
}

// Processes are the node processes of one machine. They outlive the handle.
type Processes struct {
	cfg Config
	*process.Restarter
}

// NewProcesses returns a handle. It starts no process.
func NewProcesses(cfg Config) (*Processes, error) {
	c := &Processes{cfg: cfg}
	var err error
	c.Restarter, err = process.New(process.Config{
		Dir: filepath.Join(cfg.Dir, "pids"), Logs: filepath.Join(cfg.Dir, "log"), Command: c.command, DieWithParent: cfg.Tied,
	})
	return c, err
}

func (c *Processes) command(node medic.NodeID) []string {
	argv := append([]string(nil), c.cfg.Program...)
	if !c.isMedic(node) {
		return append(argv, "node", string(node), "-f", c.cfg.Topology.File)
	}
	argv = append(argv, "medic", string(node), "-f", c.cfg.Topology.File)
	for _, h := range c.Hosts() {
		argv = append(argv, "--host", h)
	}
	return argv
}

func (c *Processes) isMedic(id medic.NodeID) bool {
	return slices.ContainsFunc(c.cfg.Topology.MedicNodes(), func(n topology.Node) bool { return n.ID == id })
}

// Keys returns the keys for listening to these nodes and to medics; nil in a cluster without keys.
func (c *Processes) Keys() (*security.Keys, error) { return c.cfg.Keys() }

// Medics returns the medics of these hosts.
func (c *Processes) Medics() []medic.NodeID {
	var ids []medic.NodeID
	for _, n := range c.cfg.Topology.MedicNodes() {
		if slices.Contains(c.Hosts(), n.Host) {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// Fence returns the fence of one of these hosts: what the host remembers of its medics' terms.
func (c *Processes) Fence(name string) (*host.Host, error) {
	return host.Open(filepath.Join(c.cfg.Topology.DataDir, agent.FenceDir), name, "", c)
}

// Hosts returns the hosts of these nodes.
func (c *Processes) Hosts() []string {
	var hosts []string
	seen := map[string]bool{}
	for _, n := range c.cfg.Nodes {
		if !seen[n.Host] {
			seen[n.Host] = true
			hosts = append(hosts, n.Host)
		}
	}
	return hosts
}

// IDs returns the names of the nodes.
func (c *Processes) IDs() []medic.NodeID {
	ids := make([]medic.NodeID, len(c.cfg.Nodes))
	for i, n := range c.cfg.Nodes {
		ids[i] = n.ID
	}
	return ids
}

// Supervise starts the nodes, and restarts nodes that die, until stop is called. The nodes run on after that.
func (c *Processes) Supervise(report func(medic.Event)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := medic.Supervisor{Restarter: c, Nodes: c.IDs(), Report: report}
		s.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// Stop ends nodes. It gives each the time limit for draining and a second more (N5). When ctx ends, it kills them at once.
func (c *Processes) Stop(ctx context.Context, nodes []medic.NodeID) []medic.Stopped {
	return medic.Stop(ctx, c, nodes, c.cfg.Topology.Limits.Drain+time.Second)
}

// Ready returns when the heartbeats of all nodes have been heard, from these processes and no others. A node that dies several times before
// it is heard is an error at once. A node that is still not heard when ctx ends is an error then.
func (c *Processes) Ready(ctx context.Context) error {
	w := &waiting{procs: c, lives: map[medic.NodeID]int{}, pids: map[medic.NodeID]int{}}
	keys, err := c.Keys()
	if err != nil {
		return err
	}
	view, err := monitor.UntilClosed(ctx, w.enough)(monitor.ListenToNodes(c.cfg.Nodes, keys))
	if err != nil && ctx.Err() != nil {
		return w.missing(view, context.Cause(ctx))
	}
	return err
}
