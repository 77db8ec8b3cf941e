package link_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// TestS6_WhereABrokerIs: an address that came with the keys takes precedence over the topology, and a reload changes it for the next
// connection.
func TestS6_WhereABrokerIs(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg := link.TransportConfig{Topology: &topology.Topology{Transport: topology.ViaNATS, NATS: topology.NATS{URL: "nats://one"}}}
	if got := cfg.BrokerAddress(); got != "nats://one" {
		t.Errorf("without keys it is at %s", got)
	}
	dir := t.TempDir()
	ca, err := security.NewCA("posta", time.Now())
	check(err)
	pair, err := ca.Issue(security.Identity{Role: security.Node, Name: "joiner-1"}, time.Now())
	check(err)
	check(security.WritePair(dir, pair))
	check(security.WriteCAs(dir, ca.Certificate()))
	check(os.Chmod(dir, 0o700))
	cfg.Keys, err = security.Load(dir, "posta", nil)
	check(err)
	if got := cfg.BrokerAddress(); got != "nats://one" {
		t.Errorf("with keys alone it is at %s", got)
	}
	for _, want := range []string{"nats://me:two@one", "nats://me:three@one"} {
		check(os.WriteFile(filepath.Join(dir, "broker"), []byte(want), 0o600))
		check(cfg.Keys.Reload())
		if got := cfg.BrokerAddress(); got != want {
			t.Errorf("it is at %s, not %s", got, want)
		}
	}
}
