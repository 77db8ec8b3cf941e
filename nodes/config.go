package nodes

import (
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/aggregator"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/input"
	"posta.dev/posta/nodes/joiner"
	"posta.dev/posta/nodes/output"
	"posta.dev/posta/nodes/parser"
	"posta.dev/posta/nodes/reducer"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/topology"
)

// coreConfig derives what a node's core has to know from the topology.
func coreConfig(c Config, n topology.Node, id link.Identity) (core.Config, error) {
	t := c.Topology
	cfg := core.Config{
		Self: n.ID, ID: id, Replica: analyses.Replica{Index: n.Index - 1, Of: n.Of},
		Joiner: n.Holds(topology.Joiner), Known: c.Known, Wiring: t.Wiring(),
		Window: int(t.Limits.Window), Commit: int(t.Limits.Commit), Pace: link.DefaultPace,
	}
	dials := t.Transport == topology.ZMQ // over a broker frames wait for their receiver, whoever connects first
	for _, e := range t.EdgesTo(n.Stage) {
		from := t.Senders(e)
		cfg.In = append(cfg.In, core.InEdge{
			Name: e.Name(), From: ids(from), Streams: e.Streams, Dialled: dials && e.Socket == topology.Pub,
			Inputs: len(from) > 0 && from[0].Holds(topology.Input),
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

// Chain makes the product's roles for a node: for Config.Roles of somebody who puts something beside one of them.
func Chain(c Config, n topology.Node) (roles []role.Role, err error) {
	t := c.Topology
	about := gateway.About{
		Cluster: t.Name, Node: string(n.ID), Version: c.Version, InputNodes: ids(t.Holding(topology.Input)), Inputs: t.EntryPoints(), Outputs: t.Outputs(),
		Known: c.Known, Wiring: t.Wiring(), Limits: t.Limits,
	}
	for _, r := range n.Chain {
		made, err := newRole(r, about)
		if err != nil {
			return nil, err
		}
		roles = append(roles, made)
	}
	return roles, nil
}

func ids(nodes []topology.Node) []link.NodeID {
	out := make([]link.NodeID, len(nodes))
	for i, n := range nodes {
		out[i] = n.ID
	}
	return out
}

func newRole(r topology.Role, about gateway.About) (role.Role, error) {
	switch r {
	case topology.Input:
		return input.New(about), nil
	case topology.Parser:
		return parser.New(), nil
	case topology.Joiner:
		return joiner.New(), nil
	case topology.Aggregator:
		return aggregator.New(), nil
	case topology.Reducer:
		return reducer.New(), nil
	case topology.Output:
		return output.New(about), nil
	}
	return nil, fmt.Errorf("role %q is in no package", r)
}
