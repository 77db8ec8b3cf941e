package nats

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/link"
	"posta.dev/posta/test/natstest"
	"posta.dev/posta/topology"
)

// away is how long a test waits for a server, or for an effect of its absence.
const away = time.Minute

// through returns the default topology over a server.
func through(url string) *topology.Topology {
	topo := topology.Default()
	topo.Transport, topo.NATS.URL = topology.ViaNATS, url
	return topo
}

// TestCheck: an error names what is wrong with a server before anything starts, and says what to do.
func TestCheck(t *testing.T) {
	ctx := context.Background()
	topo := through(natstest.Start(t).URL())
	if err := Check(ctx, topo); err != nil {
		t.Error(err)
	}
	if largest := int(topo.Limits.Frame); maxMessage(topo) <= largest {
		t.Errorf("a server must take %d bytes, a frame may have %d", maxMessage(topo), largest)
	}
	expect := func(what, want string) {
		t.Helper()
		if err := Check(ctx, topo); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	topo.NATS.URL = natstest.Start(t, "-jetstream=false").URL()
	expect("no JetStream", "write jetstream {}")
	topo.NATS.URL = small(t)
	expect("frames larger than its messages", "write max_payload = 16842752 into the server's file, or lower limits.frame")
	topo.NATS.URL = "nats://user:secret@127.0.0.1:1"
	expect("nobody there", "start the server")
	if err := Check(ctx, topo); strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells the password: %v", err)
	}
}

// small returns a server with default settings, whose messages have at most 1 MiB.
func small(t *testing.T) (url string) {
	t.Helper()
	return natstest.Start(t, "-max-payload", "1048576").URL()
}

// TestNode_ASmallMaxPayloadIsLogged: a node does not check the server beforehand. It waits, and its log says what for.
func TestNode_ASmallMaxPayloadIsLogged(t *testing.T) {
	topo := through(small(t))
	topo.DataDir, topo.Hosts[0].Address = t.TempDir(), "ipc:"+t.TempDir()
	topo.Hosts[0].Bind = topo.Hosts[0].Address
	n, err := topo.Node("joiner-1")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(lines, 16)
	tr, err := New(link.TransportConfig{Topology: topo, Node: n, Log: slog.New(slog.NewTextHandler(lines, nil))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	for late := time.After(away); ; {
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

// lines is a log that a test reads. Lines that do not fit are lost.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

// TestTheLargestMessageIsReadBack: the largest message that a topology allows is undamaged after JetStream restarts.
func TestTheLargestMessageIsReadBack(t *testing.T) {
	server := natstest.Start(t)
	topo := through(server.URL())
	topo.Limits.Frame = topology.MaxNATSFrame
	ctx, cancel := context.WithTimeout(context.Background(), away)
	defer cancel()
	largest := bytes.Repeat([]byte("posta 30"), maxMessage(topo)/8)
	stream := func() jetstream.Stream {
		nc, err := nats.Connect(server.URL())
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
	server.Kill()
	natstest.Restart(t, server)
	if m, err := stream().GetMsg(ctx, 1); err != nil || !bytes.Equal(m.Data, largest) {
		t.Errorf("%v", err)
	}
}
