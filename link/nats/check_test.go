package nats

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
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
	// The largest frame of the default topology is more than what the server warns of.
	s.topo.Limits.Frame *= 2
	expect("frames larger than its messages", "max_payload = ")
	s.topo.Limits.Frame /= 2
	o, err := serverOptions(s.topo)
	if err != nil {
		t.Fatal(err)
	}
	o.JetStream, o.Port = false, server.RANDOM_PORT
	bare, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	bare.Start()
	defer func() { bare.Shutdown(); bare.WaitForShutdown() }()
	if !bare.ReadyForConnections(readyTime) {
		t.Fatal("it does not listen")
	}
	s.topo.NATS.URL = bare.ClientURL()
	expect("no JetStream", "write jetstream {}")
	s.topo.NATS.URL = "nats://user:secret@127.0.0.1:1"
	expect("nobody there", "start the server")
	if err := Check(ctx, s.topo); strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells the password: %v", err)
	}
}
