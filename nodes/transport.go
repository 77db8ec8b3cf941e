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

// newTransport opens the transport that the topology names.
func newTransport(c Config, n topology.Node, accepts *zmqx.AcceptLimit, onLines func()) (link.Transport, error) {
	// Inputs listen to heartbeats, which report every node's losses and the sessions that have ended.
	cfg := link.TransportConfig{Topology: c.Topology, Node: n, Listen: n.Holds(topology.Input), Log: c.Log, Keys: c.Keys, OnLines: onLines}
	switch c.Topology.Transport {
	case topology.ZMQ:
		return open(zmq.New(cfg, accepts))
	case topology.ViaRabbitMQ:
		return open(rabbitmq.New(cfg, accepts))
	case topology.ViaNATS:
		return open(nats.New(cfg, accepts))
	}
	return nil, fmt.Errorf("node %s: transport %q is in no package", n.ID, c.Topology.Transport)
}

// open returns a nil interface after an error. Otherwise a nil *T would become a link.Transport that is not nil.
func open[T link.Transport](t T, err error) (link.Transport, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// CheckBroker checks that the broker of a topology, if it has one, is reachable and admits the cluster. Nodes do not
// call it: they wait for the broker.
func CheckBroker(ctx context.Context, t *topology.Topology) error {
	switch t.Transport {
	case topology.ViaRabbitMQ:
		return rabbitmq.Check(ctx, t)
	case topology.ViaNATS:
		return nats.Check(ctx, t)
	}
	return nil
}

// RemoveFromBroker deletes all that a cluster keeps on its broker, if it has one. The nodes' logs hold the same data,
// so a cluster that continues later loses nothing.
func RemoveFromBroker(ctx context.Context, t *topology.Topology) error {
	switch t.Transport {
	case topology.ViaRabbitMQ:
		return rabbitmq.Remove(ctx, t)
	case topology.ViaNATS:
		return nats.Remove(ctx, t)
	}
	return nil
}
