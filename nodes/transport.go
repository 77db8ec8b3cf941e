package nodes

import (
	"context"
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/link/nats"
	"posta.dev/posta/link/rabbitmq"
	"posta.dev/posta/link/zmq"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// newTransport is what carries a node's frames, as the topology says.
func newTransport(c Config, n topology.Node, accepts *zmqx.AcceptLimit) (link.Transport, error) {
	// Inputs listen: they hear of every node's losses, and of sessions that have ended.
	cfg := link.TransportConfig{Topology: c.Topology, Node: n, Listen: n.Holds(topology.Input), Log: c.Log, Accepts: accepts, Keys: c.Keys}
	switch c.Topology.Transport {
	case topology.ZMQ:
		return open(zmq.New(cfg))
	case topology.ViaRabbitMQ:
		return open(rabbitmq.New(cfg))
	case topology.ViaNATS:
		return open(nats.New(cfg))
	}
	return nil, fmt.Errorf("node %s: transport %q is in no package", n.ID, c.Topology.Transport)
}

// open keeps a transport that could not be opened from becoming one that is not nil.
func open[T link.Transport](t T, err error) (link.Transport, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// CheckBroker says whether the broker of a topology, if it has one, is there and lets the cluster in. Nodes do not ask: they wait for it.
func CheckBroker(ctx context.Context, t *topology.Topology) error {
	switch t.Transport {
	case topology.ViaRabbitMQ:
		return rabbitmq.Check(ctx, t)
	case topology.ViaNATS:
		return nats.Check(ctx, t)
	}
	return nil
}

// RemoveFromBroker deletes what a cluster has on its broker, if it has one. What is there is also in the nodes' logs, so a cluster that
// goes on later loses nothing by it.
func RemoveFromBroker(ctx context.Context, t *topology.Topology) error {
	switch t.Transport {
	case topology.ViaRabbitMQ:
		return rabbitmq.Remove(ctx, t)
	case topology.ViaNATS:
		return nats.Remove(ctx, t)
	}
	return nil
}
