package rabbitmq

import (
	"posta.dev/posta/link"
	"posta.dev/posta/link/internal/brokered"
)

// All names of a cluster begin with posta.NAME, so that people can find and delete its queues and exchanges.

func queueOf(cluster, edge string, from, to link.NodeID) string {
	return exchangeOf(cluster, edge, from) + "." + string(to)
}

func exchangeOf(cluster, edge string, from link.NodeID) string {
	return "posta." + cluster + "." + edge + "." + string(from)
}

// nodeOf returns the exclusive queue by which one process claims to be the node.
func nodeOf(cluster string, node link.NodeID, what string) string {
	return "posta." + cluster + ".node." + string(node) + "." + what
}

func acksOf(cluster string) string { return "posta." + cluster + ".acks" }

// queueOf returns the queue that a receiving end reads.
func (t *Transport) queueOf(in *brokered.Incoming[uint64]) string {
	return queueOf(t.Config.Topology.Name, in.Edge, in.From, t.Config.Node.ID)
}

// queuesOf returns the queues of the receivers of a sending end.
func (t *Transport) queuesOf(o *brokered.Outgoing) (queues []string) {
	for _, to := range o.Receivers {
		queues = append(queues, queueOf(t.Config.Topology.Name, o.Edge, t.Config.Node.ID, to))
	}
	return queues
}

// sendsTo returns where a sending end publishes: the fanout exchange of a pub edge, or the link's queue.
func (t *Transport) sendsTo(o *brokered.Outgoing) string {
	if o.To == "" {
		return exchangeOf(t.Config.Topology.Name, o.Edge, t.Config.Node.ID)
	}
	return t.queuesOf(o)[0]
}
