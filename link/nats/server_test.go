package nats

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"posta.dev/posta/topology"
)

// TestServe_AnAddressThatIsTakenIsSaidAtOnce: not after the time that a server may take to read its streams back.
func TestServe_AnAddressThatIsTakenIsSaidAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	topo := topology.Default()
	topo.Transport, topo.DataDir = topology.ViaNATS, t.TempDir()
	topo.NATS.Embedded, topo.NATS.URL = true, "nats://"+l.Addr().String()
	ctx, cancel := context.WithTimeout(context.Background(), readyTime/2)
	defer cancel()
	err = Serve(ctx, topo, testLog(), func() { t.Error("it is said to be ready") })
	if err == nil || !strings.Contains(err.Error(), "is the address taken") {
		t.Errorf("%v", err)
	}
}

// TestServe_AServerThatDoesNotStoreEnds: whoever keeps it alive starts it again; left alone it would take no frame for ever.
func TestServe_AServerThatDoesNotStoreEnds(t *testing.T) {
	topo := topology.Default()
	topo.Transport, topo.DataDir = topology.ViaNATS, t.TempDir()
	o, err := serverOptions(topo)
	if err != nil {
		t.Fatal(err)
	}
	o.Port = server.RANDOM_PORT
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(readyTime) {
		t.Fatal("it does not listen")
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	time.AfterFunc(2*lookEvery, func() { _ = s.DisableJetStream() }) // as it does when its disk is full
	if err := watch(ctx, s, nil); !errors.Is(err, errNoStreams) {
		t.Errorf("%v", err)
	}
}
