package reach

import (
	"context"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/nodes"
	"posta.dev/posta/topology"
)

// BrokerTime limits a check of the broker. RabbitMQ on a slow machine needs some seconds to greet.
const BrokerTime = 10 * time.Second

// CheckBroker checks, before anything starts, whether frames will get through. Nodes wait for their broker without a limit. That is right
// for nodes, because the broker may be starting. It is wrong for a user who mistyped the broker's address.
func CheckBroker(ctx context.Context, t *topology.Topology) error {
	ctx, cancel := context.WithTimeout(ctx, BrokerTime)
	defer cancel()
	slow := *t
	slow.Limits.Handshake = max(t.Limits.Handshake, BrokerTime/2)
	return nodes.CheckBroker(ctx, &slow)
}

// CheckBrokerOfCluster checks the broker of a running cluster. If the cluster is on other machines, these may reach a broker that this
// machine cannot reach: then a failure is only a note.
func CheckBrokerOfCluster(x *call.Call, ctx context.Context, t *topology.Topology) error {
	err := CheckBroker(ctx, t)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if !slices.ContainsFunc(t.Hosts, remote) {
		return fmt.Errorf("no frame gets through between the nodes: %w", err)
	}
	x.Notef("this machine cannot reach the cluster's broker; if the nodes cannot reach it either, the cluster waits: %v", err)
	return nil
}

// WarnWithoutBroker warns, before the nodes start, that they will wait for their broker. It is not an error: after a crash of the machine
// the broker may come up later than the cluster, and the nodes read their logs back meanwhile.
func WarnWithoutBroker(x *call.Call, ctx context.Context, t *topology.Topology) {
	if err := CheckBroker(ctx, t); err != nil && ctx.Err() == nil {
		x.Notef("nodes will wait, and no session makes progress, until this is fixed: %v", err)
	}
}
