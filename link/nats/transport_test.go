package nats

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/link"
	"posta.dev/posta/link/linktest"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is an embedded one, in this process, that comes and goes.
type host struct {
	t    *testing.T
	topo *topology.Topology
	end  func()
}

func newServer(t *testing.T, sync string) *host {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	topo := topology.Default()
	topo.Transport, topo.DataDir = topology.ViaNATS, t.TempDir()
	topo.NATS.Embedded, topo.NATS.Sync, topo.NATS.URL = true, sync, "nats://"+l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := &host{t: t, topo: topo}
	s.start()
	t.Cleanup(func() { s.end() })
	return s
}

func (s *host) start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := Serve(ctx, s.topo, testLog(), nil); err != nil {
			s.t.Error(err)
		}
	}()
	s.end = func() { cancel(); <-ended }
	for {
		if c, err := net.Dial("tcp", s.topo.NATS.URL[len("nats://"):]); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func testLog() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

func TestSuite(t *testing.T) {
	for _, c := range []struct{ sync, more string }{{"default", ""}, {"always", ""}, {"default", `batch = "0B"`}} {
		t.Run(fmt.Sprintf("sync %s %s", c.sync, c.more), func(t *testing.T) {
			s := newServer(t, c.sync)
			linktest.Subject{
				Transport: topology.ViaNATS,
				Sections:  "[nats]\nurl = \"" + s.topo.NATS.URL + "\"\n" + c.more,
				New: func(topo *topology.Topology, n topology.Node) (link.Transport, error) {
					return New(Config{Topology: topo, Node: n, Listen: n.Holds(topology.Input), Log: testLog()})
				},
				Away: func() func() { s.end(); return s.start },
			}.Run(t)
		})
	}
}
