package nodes

import (
	"log/slog"

	"posta.dev/posta/link"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

const (
	// ownFiles is how many file descriptors a node needs beside its connections: three standard ones, two of the
	// runtime, one for each listener (four at most), three for directories that the log holds, and those of the log
	// while it makes a segment and a snapshot. A node of the default topology was seen to have 17.
	ownFiles = 18

	// strangers is the least number of connections that a node accepts beside those of the topology: from clients, `posta status`, and unknown
	// peers.
	strangers = 16
)

// Descriptors returns how many file descriptors a node needs for its log and for the connections that its topology implies.
func Descriptors(t *topology.Topology, n topology.Node) int {
	return ownFiles + dials(t, n) + accepts(t, n) + strangers
}

// dials returns how many connections a node opens.
func dials(t *topology.Topology, n topology.Node) (all int) {
	if t.Transport != topology.ZMQ {
		all += 2 // to the broker
	}
	heard := map[link.NodeID]bool{} // on their control sockets
	for _, e := range t.EdgesFrom(n.Stage) {
		for _, to := range t.Receivers(e) {
			heard[to.ID] = true
			if e.Socket != topology.Pub && t.Transport == topology.ZMQ {
				all++
			}
		}
	}
	for _, e := range t.EdgesTo(n.Stage) {
		if e.Socket == topology.Pub && t.Transport == topology.ZMQ {
			all += len(t.Senders(e))
		}
	}
	if n.Holds(topology.Input) {
		return all + len(t.Nodes()) - 1
	}
	return all + len(heard)
}

// accepts returns how many connections other nodes and medics open to a node.
func accepts(t *topology.Topology, n topology.Node) (all int) {
	all = len(t.MedicNodes())
	hear := map[link.NodeID]bool{} // its control socket
	for _, o := range t.Nodes() {
		if o.ID != n.ID && o.Holds(topology.Input) {
			hear[o.ID] = true
		}
	}
	for _, e := range t.EdgesTo(n.Stage) {
		for _, from := range t.Senders(e) {
			hear[from.ID] = true
			if e.Socket != topology.Pub && t.Transport == topology.ZMQ {
				all++
			}
		}
	}
	for _, e := range t.EdgesFrom(n.Stage) {
		if e.Socket == topology.Pub && t.Transport == topology.ZMQ {
			all += len(t.Receivers(e))
		}
	}
	return all + len(hear)
}

// acceptLimit limits accepted connections, so that enough descriptors remain for the node's log and the connections that it opens.
func acceptLimit(t *topology.Topology, n topology.Node, log *slog.Logger) *zmqx.AcceptLimit {
	limit := zmqx.OpenFiles()
	if need := Descriptors(t, n); limit < need {
		log.Warn("the limit of open files is too low: connections of nodes will be closed in favour of others; raise it (ulimit -n)", "limit",
			limit, "needed", need)
	}
	return zmqx.NewAcceptLimit(limit-ownFiles-dials(t, n), log)
}
