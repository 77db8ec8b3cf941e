package e2e

import (
	"testing"

	"posta.dev/posta/test/natstest"
	"posta.dev/posta/topology"
)

// startNATS starts a server with one of the values of its -sync.
func startNATS(sync string) func(*testing.T) (broker, map[string]string) {
	return func(t *testing.T) (broker, map[string]string) {
		t.Helper()
		b := natstest.Start(t, "-sync", sync)
		return b, map[string]string{"cluster.transport": topology.ViaNATS, "nats.url": b.URL()}
	}
}
