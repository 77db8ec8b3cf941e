package control

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/link"
	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestS3_WhoMayListenToANode: members of the cluster, and clients with the role watch. A client that is revoked later hears nothing more.
func TestS3_WhoMayListenToANode(t *testing.T) {
	topo := keytest.Loopback(t, topology.Variant{})
	ring := keytest.New(t, topo.Name)
	n, err := topo.Node("aggregator-1")
	if err != nil {
		t.Fatal(err)
	}
	ring.Of(t, n)
	all := ring.Listeners(t, topo, n)
	keys := ring.Load(t, n.Identity()) // these keys know all clients, and which are revoked
	c, err := New(Config{Topology: topo, Node: n, Keys: keys, Log: slog.New(slog.DiscardHandler), OnEvent: func(link.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	keytest.Try(t, all, n)

	late, err := topo.Node("joiner-2")
	if err != nil {
		t.Fatal(err)
	}
	_, cut := keytest.Sub(t, ring.Of(t, late), security.Control, n)
	_, stays := keytest.Sub(t, all[0].Keys, security.Control, n)
	cut.Await(t, zmqx.Connected)
	stays.Await(t, zmqx.Connected)
	ring.Revoke(t, n.Identity(), late.Identity())
	if err := keys.Reload(); err != nil {
		t.Fatal(err)
	}
	c.Recheck()
	cut.Await(t, zmqx.Disconnected)
	if e := cut.Await(t, zmqx.Connected, zmqx.Unreachable); e.Kind == zmqx.Connected {
		t.Error("who was revoked came back")
	}
	select {
	case e := <-stays:
		t.Errorf("another listener hears %+v", e)
	default:
	}
}
