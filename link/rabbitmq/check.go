package rabbitmq

import (
	"context"
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/topology"
)

// Check reports whether the broker of a topology is reachable and admits the cluster, before anything starts. Nodes themselves wait for a
// broker that is away (see [New]).
func Check(ctx context.Context, topo *topology.Topology) error {
	conn, hangUp, err := dial(ctx, link.TransportConfig{Topology: topo}, "check")
	if err != nil {
		return fmt.Errorf("RabbitMQ at %s: %w", topology.RedactURL(topo.RabbitMQ.URL), explain(err, ""))
	}
	_ = conn.Close() // the check has succeeded
	hangUp()
	return nil
}
