package nats

import (
	"flag"
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

var long = flag.Bool("long", false, "the suite with all settings of servers and batches, as make nightly runs it")

func TestSuite(t *testing.T) {
	all := []struct{ sync, more string }{{"default", ""}, {"always", ""}, {"default", `batch = "0B"`}}
	if !*long {
		all = all[:1]
	}
	for _, c := range all {
		t.Run(fmt.Sprintf("sync %s %s", c.sync, c.more), func(t *testing.T) {
			server := natstest.Start(t, "-sync", c.sync)
			linktest.Subject{
				Transport: topology.ViaNATS,
				Sections:  "[nats]\nurl = \"" + server.URL() + "\"\n" + c.more,
				New: func(topo *topology.Topology, n topology.Node) (link.Transport, error) {
					return New(link.TransportConfig{Topology: topo, Node: n, Listen: n.Holds(topology.Input), Log: testLog()}, nil)
				},
				Away: func() func() { server.Kill(); return func() { natstest.Restart(t, server) } },
			}.Run(t)
		})
	}
}
