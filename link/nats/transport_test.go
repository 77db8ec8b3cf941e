package nats

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/link"
	"posta.dev/posta/test/linktest"
	"posta.dev/posta/test/natstest"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { natstest.Remove(); os.Exit(code) }))
}

func testLog() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

func TestSuite(t *testing.T) {
	for _, c := range []struct{ sync, more string }{{"default", ""}, {"always", ""}, {"default", `batch = "0B"`}} {
		t.Run(fmt.Sprintf("sync %s %s", c.sync, c.more), func(t *testing.T) {
			server := natstest.Start(t, "-sync", c.sync)
			linktest.Subject{
				Transport: topology.ViaNATS,
				Sections:  "[nats]\nurl = \"" + server.URL() + "\"\n" + c.more,
				New: func(topo *topology.Topology, n topology.Node) (link.Transport, error) {
					return New(link.TransportConfig{Topology: topo, Node: n, Listen: n.Holds(topology.Input), Log: testLog()})
				},
				Away: func() func() { server.Kill(); return func() { natstest.Restart(t, server) } },
			}.Run(t)
		})
	}
}
