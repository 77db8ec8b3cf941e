package nodes

import (
	"fmt"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/bootclock"
	"posta.dev/posta/internal/cgroup"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/chain"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// shellConfig derives the configuration of a node's shell from the topology.
func shellConfig(c Config, n topology.Node, id link.Identity) (shell.Config, error) {
	cfg, err := coreConfig(c, n, id)
	t := c.Topology
	return shell.Config{
		Core: cfg, Snapshot: int64(t.Limits.Snapshot), Drain: t.Limits.Drain, Heartbeat: t.Medics.Heartbeat, Outputs: t.Outputs(), Dir: n.DataDir,
		Unsynced: c.Direct != nil,
	}, err
}

// memory returns how many bytes of memory the node may use; 0: nothing bounds them. If the control group has other processes, these are
// taken to be all nodes of the host, and the program that started them.
func memory(c *Config, n topology.Node) int64 {
	limit, alone := cgroup.Memory()
	if c.Direct != nil || alone && c.Headroom > 0 {
		return limit
	}
	processes := int64(1)
	for _, other := range c.Topology.Nodes() {
		if other.Host == n.Host {
			processes++
		}
	}
	return limit / processes
}

// coreConfig derives the configuration of a node's core from the topology.
func coreConfig(c Config, n topology.Node, id link.Identity) (core.Config, error) {
	t := c.Topology
	limits := t.Limits.Within(memory(&c, n))
	cfg := core.Config{
		Self: n.ID, ID: id, Replica: analyses.Replica{Index: n.Index - 1, Of: n.Of, Memory: int(limits.Memory)},
		Joiner: n.Holds(topology.Joiner), Known: c.Known, Wiring: t.Wiring(),
		Window: int(limits.Window), Commit: int(limits.Commit), Frame: int(limits.Frame), Record: wal.MaxRecord,
		Memory: int(limits.Memory), Held: int(limits.NodeMemory), Share: limits.ClientShare, Tables: int(limits.Tables),
		Pace: link.DefaultPace,
	}
	dials := t.Transport == topology.ZMQ // a broker keeps frames until their receiver connects
	for _, e := range t.EdgesTo(n.Stage) {
		from := t.Senders(e)
		cfg.In = append(cfg.In, core.InEdge{
			Name: e.Name(), From: ids(from), Streams: e.Streams, Dialled: dials && e.Socket == topology.Pub,
			Inputs: len(from) > 0 && from[0].Holds(topology.Input), All: e.Route == topology.All,
		})
	}
	for _, e := range t.EdgesFrom(n.Stage) {
		cfg.Out = append(cfg.Out, core.OutEdge{
			Name: e.Name(), To: ids(t.Receivers(e)), Streams: e.Streams, Route: e.Route, Key: e.Key, Broadcast: e.Socket == topology.Pub,
		})
	}
	var err error
	if c.Roles != nil {
		cfg.Roles, err = c.Roles(n)
	} else {
		cfg.Roles, err = Chain(c, n)
	}
	if err != nil {
		return core.Config{}, fmt.Errorf("node %s: %w", n.ID, err)
	}
	return cfg, nil
}

// Chain makes the product's roles for a node. A Config.Roles function calls it to put something beside one of them.
func Chain(c Config, n topology.Node) ([]role.Role, error) {
	t := c.Topology
	boot, since := bootclock.Read()
	return chain.New(n.Chain, gateway.About{
		Cluster: t.Name, Node: string(n.ID), Version: c.Version, InputNodes: ids(t.Holding(topology.Input)), Inputs: t.EntryPoints(),
		Outputs: t.Outputs(), OutputNodes: ids(t.Holding(topology.Output)), Roots: t.RootsOf(n.Host), Known: c.Known, Wiring: t.Wiring(),
		Limits: t.Limits, Uptime: gateway.Uptime{Boot: boot, Zero: time.Now().Add(-since)},
	})
}

func ids(nodes []topology.Node) []link.NodeID {
	out := make([]link.NodeID, len(nodes))
	for i, n := range nodes {
		out[i] = n.ID
	}
	return out
}
