package nats

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/link"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/natstest"
	"posta.dev/posta/topology"
)

// open starts a node's transport on the server.
func open(t *testing.T, url string, node topology.NodeID) (*Transport, *await.Log) {
	t.Helper()
	topo := topology.Default()
	topo.Name, topo.Transport, topo.Hosts[0].Address = "trouble", topology.ViaNATS, "ipc:"+t.TempDir()
	topo.Hosts[0].Bind, topo.NATS.URL = topo.Hosts[0].Address, url
	n, err := topo.Node(node)
	if err != nil {
		t.Fatal(err)
	}
	log := &await.Log{}
	tr, err := New(link.TransportConfig{Topology: topo, Node: n, Log: slog.New(slog.NewTextHandler(log, nil))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return tr, log
}

// TestTrouble_AStreamWithOtherProperties: somebody has made a stream with other properties, before the nodes or while they run. It is
// corrected: by a change, or because its sender creates it again. It used to swallow frames, and sessions hung without a message.
func TestTrouble_AStreamWithOtherProperties(t *testing.T) {
	server := natstest.Start(t)
	nc, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	subject := subjectOf("trouble", "joiner-aggregator-all", "joiner-1", "aggregator-1")
	// Storage cannot be changed.
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: streamOf(subject), Subjects: []string{subject},
		Storage: jetstream.MemoryStorage, MaxAge: time.Second}); err != nil {
		t.Fatal(err)
	}
	sender, log := open(t, server.URL(), "joiner-1")
	open(t, server.URL(), "aggregator-1")
	want := sender.streamConfig(subject)
	right := func() bool {
		is, err := js.Stream(ctx, want.Name)
		return err == nil && fits(&is.CachedInfo().Config, &want)
	}
	await.Until(t, "the stream is made again", right)
	if !strings.Contains(log.String(), "deleted and made again") || !strings.Contains(log.String(), want.Name) {
		t.Errorf("the log says\n%s", log.String())
	}
	for name, spoil := range map[string]func() error{
		"messages are too old after a second": func() error {
			c := want
			c.MaxAge = time.Second
			_, err := js.UpdateStream(ctx, c)
			return err
		},
		"deleted": func() error { return js.DeleteStream(ctx, want.Name) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		await.Until(t, name+", and made right again", right)
	}
}

// TestTrouble_TwoClustersOfOneName: two clusters of one name use one server. The second one reports that, and takes no frame of the first.
func TestTrouble_TwoClustersOfOneName(t *testing.T) {
	server := natstest.Start(t)
	first, firstLog := open(t, server.URL(), "joiner-1")
	await.Until(t, "the first is connected", func() bool { return connected(first) })
	second, log := open(t, server.URL(), "joiner-1")
	await.Until(t, "the second is refused in words", func() bool {
		return strings.Count(log.String(), "give one of the two clusters another name") >= 2 // inputs and outputs
	})
	if tr := second.Trouble(); strings.Count(tr, "give one of the two clusters another name") != 1 || first.Trouble() != "" {
		t.Errorf("the second's trouble is %q, the first's %q", tr, first.Trouble())
	}
	if connected(second) || strings.Contains(firstLog.String(), "another name") {
		t.Errorf("the second is connected: %v; the first says\n%s", connected(second), firstLog.String())
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the second is let in when the first has gone", func() bool { return connected(second) })
	await.Until(t, "the second's trouble is over", func() bool { return second.Trouble() == "" })
}

// connected reads a transport's events, and reports whether one says that a link is connected.
func connected(t *Transport) bool {
	for {
		select {
		case e, ok := <-t.Events():
			if !ok || e.Connected {
				return ok
			}
		default:
			return false
		}
	}
}
