package rabbitmq

import (
	"context"
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/topology"
)

// Check says whether the broker of a topology is there and lets the cluster in, for who wants to know it before anything starts. What
// nodes do about a broker that is away is to wait (see [New]).
func Check(ctx context.Context, topo *topology.Topology) error {
	conn, hangUp, err := dial(ctx, link.TransportConfig{Topology: topo}, "check")
	if err != nil {
		return fmt.Errorf("RabbitMQ at %s: %w", topology.RedactURL(topo.RabbitMQ.URL), explain(err, ""))
	}
	_ = conn.Close() // it was there
	hangUp()
	return nil
}
