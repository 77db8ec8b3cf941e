package topology

import (
	"fmt"
	"path/filepath"
	"slices"

	"posta.dev/posta/security"
)

// NodeID names a node by stage and replica, counted from 1: "joiner-1". It is also the name of the node's data directory and of its unix
// sockets.
type NodeID string

const maxReplicas = 64

// Node is one replica of a stage: one process with one data directory.
type Node struct {
	ID      NodeID
	Stage   string
	Chain   []Role
	Index   int // 1 to Of
	Of      int // replicas of the stage
	Host    string
	DataDir string
	Sockets Sockets
}

// holds reports whether the role is part of the node's chain.
func (n Node) Holds(r Role) bool { return slices.Contains(n.Chain, r) }

// Identity returns the name that the node or medic proves with its key (S3).
func (n Node) Identity() security.Identity {
	role := security.Node
	if len(n.Chain) == 0 {
		role = security.Medic
	}
	return security.Identity{Role: role, Name: string(n.ID)}
}

// Nodes places every replica: stages in file order, replica i of a stage on its i-th host, round robin. Ports are assigned in the same
// order, so adding a replica moves the ports of the nodes after it on that host.
func (t *Topology) Nodes() []Node {
	var nodes []Node
	used := map[string]int{} // sockets that each host has assigned so far
	for _, s := range t.Stages {
		for i := range s.Replicas {
			if len(s.Hosts) == 0 {
				continue // only in a file that is refused
			}
			n := Node{
				ID: NodeID(fmt.Sprintf("%s-%d", s.Name, i+1)), Stage: s.Name, Chain: slices.Clone(s.Chain),
				Index: i + 1, Of: s.Replicas, Host: s.Hosts[i%len(s.Hosts)],
			}
			n.DataDir = filepath.Join(t.DataDir, string(n.ID))
			used[n.Host] += t.openSockets(&n, s, used[n.Host])
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Node returns the node of that name; the error wraps ErrNoNode and lists the existing names.
func (t *Topology) Node(id NodeID) (Node, error) {
	nodes := t.Nodes()
	if i := slices.IndexFunc(nodes, func(n Node) bool { return n.ID == id }); i >= 0 {
		return nodes[i], nil
	}
	return Node{}, fmt.Errorf("node %q in %s: %w; %s", id, t.File, ErrNoNode, suggest(string(id), names(nodes)))
}

// nodesOf returns the replicas of a stage.
func (t *Topology) nodesOf(stage string) []Node {
	return slices.DeleteFunc(t.Nodes(), func(n Node) bool { return n.Stage != stage })
}

// Holding returns the nodes with a role in their chain.
func (t *Topology) Holding(r Role) []Node {
	return slices.DeleteFunc(t.Nodes(), func(n Node) bool { return !n.Holds(r) })
}

// Receivers returns the nodes to which an edge leads, Senders those from which it comes. Every sender has a link to every receiver.
func (t *Topology) Receivers(e Edge) []Node { return t.nodesOf(e.To) }

// Senders returns the nodes from which an edge comes. At the end of a stream, a receiver waits for all of them (R12).
func (t *Topology) Senders(e Edge) []Node { return t.nodesOf(e.From) }

// EntryPoints returns the endpoints that clients dial to open sessions and upload.
func (t *Topology) EntryPoints() []string { return t.clientEndpoints(Input) }

// Outputs returns the endpoints that clients dial to fetch results.
func (t *Topology) Outputs() []string { return t.clientEndpoints(Output) }

func (t *Topology) clientEndpoints(r Role) []string {
	var out []string
	for _, n := range t.Holding(r) {
		out = append(out, n.Sockets.Client.Dial)
	}
	return out
}
