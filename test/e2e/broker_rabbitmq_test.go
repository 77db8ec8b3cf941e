//go:build brokers

package e2e

import (
	"path/filepath"
	"testing"

	"posta.dev/posta/bench/brokers"
	"posta.dev/posta/topology"
)

func init() {
	brokerKinds = append(brokerKinds,
		brokerKind{"rabbitmq classic", startRabbitMQ, map[string]string{"rabbitmq.queue": "classic"}},
		brokerKind{"rabbitmq quorum", startRabbitMQ, map[string]string{"rabbitmq.queue": "quorum"}},
		brokerKind{"rabbitmq frame by frame", startRabbitMQ, map[string]string{"rabbitmq.batch": "0B"}},
	)
}

func startRabbitMQ(t *testing.T) (broker, map[string]string) {
	t.Helper()
	b, err := brokers.StartRabbitMQ(deadline(t), filepath.Join(t.TempDir(), "rabbitmq"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b, map[string]string{"cluster.transport": topology.ViaRabbitMQ, "rabbitmq.url": b.URL()}
}
