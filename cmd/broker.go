package cmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/nodes"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// brokerTime limits a check of the broker. RabbitMQ on a slow machine needs some seconds to greet.
const brokerTime = 10 * time.Second

// checkBroker checks, before anything starts, whether frames will get through. Nodes wait for their broker without a limit. That is right
// for nodes, because the broker may be starting. It is wrong for a user who mistyped the broker's address.
func checkBroker(ctx context.Context, t *topology.Topology) error {
	ctx, cancel := context.WithTimeout(ctx, brokerTime)
	defer cancel()
	slow := *t
	slow.Limits.Handshake = max(t.Limits.Handshake, brokerTime/2)
	return nodes.CheckBroker(ctx, &slow)
}

// checkBrokerOfCluster checks the broker of a running cluster. If the cluster is on other machines, these may reach a broker that this
// machine cannot reach: then a failure is only a note.
func (x *command) checkBrokerOfCluster(ctx context.Context, t *topology.Topology) error {
	err := checkBroker(ctx, t)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if !slices.ContainsFunc(t.Hosts, remote) {
		return fmt.Errorf("no frame gets through between the nodes: %w", err)
	}
	x.Notef("this machine cannot reach the cluster's broker; if the nodes cannot reach it either, the cluster waits: %v", err)
	return nil
}

// warnWithoutBroker warns, before the nodes start, that they will wait for their broker. It is not an error: after a crash of the machine
// the broker may come up later than the cluster, and the nodes read their logs back meanwhile.
func (x *command) warnWithoutBroker(ctx context.Context, t *topology.Topology) {
	if err := checkBroker(ctx, t); err != nil && ctx.Err() == nil {
		x.Notef("nodes will wait, and no session makes progress, until this is fixed: %v", err)
	}
}

// checkCarriedBroker checks whether a node has the address of its broker. posta deploy takes the address out of the topology and delivers
// it with the keys.
func checkCarriedBroker(t *topology.Topology, keys *security.Keys) error {
	address := keys.Broker()
	switch {
	case address == "" && t.BrokerSecretIsElsewhere():
		return exit.Usagef("the topology has no password for its broker at %s, and there is none beside the keys of this node: run posta deploy "+
			"again, which brings it", t.BrokerURL())
	case address == "" || t.Transport == topology.ZMQ:
		return nil
	}
	if _, err := t.WithBrokerAddress(address); err != nil {
		return fmt.Errorf("read the address of the broker beside %s: %w; run posta deploy again, which brings it", keys, err)
	}
	return nil
}
