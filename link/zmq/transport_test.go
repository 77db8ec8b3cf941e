package zmq

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/link"
	"posta.dev/posta/test/linktest"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	linktest.Subject{
		Transport: topology.ZMQ,
		New: func(topo *topology.Topology, n topology.Node) (link.Transport, error) {
			return New(link.TransportConfig{Topology: topo, Node: n, Listen: n.Holds(topology.Input), Log: slog.New(slog.DiscardHandler)}, nil)
		},
	}.Run(t)
}
