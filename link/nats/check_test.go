package nats

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/topology"
)

// TestCheck: what is wrong with a server is said before anything starts, with what to do.
func TestCheck(t *testing.T) {
	ctx := context.Background()
	s := newServer(t, "default")
	if err := Check(ctx, s.topo); err != nil {
		t.Error(err)
	}
	if largest := int(s.topo.Limits.Frame); maxMessage(s.topo) <= largest {
		t.Errorf("the embedded server takes %d bytes, a frame may have %d", maxMessage(s.topo), largest)
	}
	expect := func(what, want string) {
		t.Helper()
		if err := Check(ctx, s.topo); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	o, err := serverOptions(s.topo)
	if err != nil {
		t.Fatal(err)
	}
	o.JetStream, o.Port = false, server.RANDOM_PORT
	s.topo.NATS.URL = running(t, o)
	expect("no JetStream", "write jetstream {}")
	s.topo.NATS.URL = small(t, s.topo)
	expect("frames larger than its messages", "write max_payload = 16842752 into the server's file, or lower limits.frame")
	s.topo.NATS.URL = "nats://user:secret@127.0.0.1:1"
	expect("nobody there", "start the server")
	if err := Check(ctx, s.topo); strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells the password: %v", err)
	}
}

// running is a server with these options, until the test is over.
func running(t *testing.T, o *server.Options) (url string) {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(readyTime) {
		t.Fatal("it does not listen")
	}
	return s.ClientURL()
}

// small is a server as it comes, whose messages are 1 MiB at most.
func small(t *testing.T, topo *topology.Topology) (url string) {
	t.Helper()
	o, err := serverOptions(topo)
	if err != nil {
		t.Fatal(err)
	}
	o.Port, o.StoreDir, o.MaxPayload = server.RANDOM_PORT, t.TempDir(), 0
	return running(t, o)
}

// TestNode_ASmallMaxPayloadIsToldInItsLog: a node does not ask beforehand, it waits; what it waits for stands in its log.
func TestNode_ASmallMaxPayloadIsToldInItsLog(t *testing.T) {
	topo := topology.Default()
	topo.Transport, topo.DataDir, topo.Hosts[0].Address = topology.ViaNATS, t.TempDir(), "ipc:"+t.TempDir()
	topo.Hosts[0].Bind, topo.NATS.URL = topo.Hosts[0].Address, small(t, topo)
	n, err := topo.Node("joiner-1")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(lines, 16)
	tr, err := New(Config{Topology: topo, Node: n, Log: slog.New(slog.NewTextHandler(lines, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	for late := time.After(readyTime); ; {
		select {
		case line := <-lines:
			if strings.Contains(line, "write max_payload = 16842752 into the server's file") {
				return
			}
		case <-late:
			t.Fatal("it says nothing of it")
		}
	}
}

// lines is a log that a test reads; what it has no room for is lost.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

// TestTheLargestMessageIsReadBack: what a topology may allow, JetStream finds undamaged after a new start.
func TestTheLargestMessageIsReadBack(t *testing.T) {
	s := newServer(t, "default")
	s.end()
	s.topo.Limits.Frame = topology.MaxNATSFrame
	s.start()
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	largest := bytes.Repeat([]byte("posta 30"), maxMessage(s.topo)/8)
	stream := func() jetstream.Stream {
		nc, err := nats.Connect(s.topo.NATS.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		st, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "large", Subjects: []string{"large"}})
		if err != nil {
			t.Fatal(err)
		}
		if info := st.CachedInfo(); info.State.Msgs == 0 {
			if _, err := js.Publish(ctx, "large", largest); err != nil {
				t.Fatal(err)
			}
		}
		return st
	}
	stream()
	s.end()
	s.start()
	if m, err := stream().GetMsg(ctx, 1); err != nil || !bytes.Equal(m.Data, largest) {
		t.Errorf("%v", err)
	}
}
