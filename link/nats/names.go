package nats

import (
	"strings"

	"posta.dev/posta/link"
	"posta.dev/posta/link/internal/brokered"
)

// subjectOf returns where frames are published; to is empty where all receivers of an edge get the same message.
func subjectOf(cluster, edge string, from, to link.NodeID) string {
	s := "posta." + cluster + "." + edge + "." + string(from)
	if to != "" {
		s += "." + string(to)
	}
	return s
}

// subjectTo returns the subject of a sending end, subjectFrom that of a receiving one.
func (t *Transport) subjectTo(o *brokered.Outgoing) string {
	return subjectOf(t.Config.Topology.Name, o.Edge, t.Config.Node.ID, o.To)
}

func (t *Transport) subjectFrom(in *brokered.Incoming[string]) string {
	return subjectOf(t.Config.Topology.Name, in.Edge, in.From, in.To)
}

// streamOf is the stream of a subject. Names of streams have no dots, names of clusters, edges and nodes no underscores.
func streamOf(subject string) string { return strings.ReplaceAll(subject, ".", "_") }

// nodeOf returns the subject on which one process answers that it runs as the node.
func nodeOf(cluster string, node link.NodeID) string {
	return "posta." + cluster + ".node." + string(node)
}

func acksOf(cluster string, to link.NodeID) string { return "posta." + cluster + ".acks." + string(to) }
