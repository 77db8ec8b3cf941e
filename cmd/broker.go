package cmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/nodes"
	"posta.dev/posta/topology"
)

// brokerTime bounds a look at the broker. A slow machine's RabbitMQ needs some seconds to greet.
const brokerTime = 10 * time.Second

// checkBroker asks before anything starts whether frames will get through. Nodes would wait for their broker without end, which is
// right for them, as it may be starting, and wrong for a user who mistyped its address.
func checkBroker(ctx context.Context, t *topology.Topology) error {
	ctx, cancel := context.WithTimeout(ctx, brokerTime)
	defer cancel()
	slow := *t
	slow.Limits.Handshake = max(t.Limits.Handshake, brokerTime/2)
	return nodes.CheckBroker(ctx, &slow)
}

// checkBrokerOfCluster looks for the broker of a cluster that runs. Where the cluster is on other machines, what this one cannot reach may well be
// reached by them: then it is only said.
func (x *command) checkBrokerOfCluster(ctx context.Context, t *topology.Topology) error {
	err := checkBroker(ctx, t)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if !slices.ContainsFunc(t.Hosts, remote) {
		return fmt.Errorf("no frame gets through between the nodes: %w", err)
	}
	x.notef("from here there is no way to the cluster's broker; if its nodes have none either, it waits: %v", err)
	return nil
}

// warnWithoutBroker says before the nodes start that they will wait. It is no error: after a crash of the machine the broker may just come up
// later than the cluster, and what nodes have in their logs is read back meanwhile.
func (x *command) warnWithoutBroker(ctx context.Context, t *topology.Topology) {
	if err := checkBroker(ctx, t); err != nil && ctx.Err() == nil {
		x.notef("nodes will wait, and take no session further, until this is mended: %v", err)
	}
}
