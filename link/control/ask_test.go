package control

import (
	"log/slog"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TestN8_ToSubscribeIsToAsk: each subscription to the trace of a session asks for it, and only those that have asked get the report.
func TestN8_ToSubscribeIsToAsk(t *testing.T) {
	topo := keytest.Loopback(t, topology.Variant{})
	n, err := topo.Node("aggregator-1")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan session.ID, 16)
	c, err := New(Config{
		Topology: topo, Node: n, Log: slog.New(slog.DiscardHandler), OnEvent: func(link.Event) {}, OnAsked: func(id session.ID) { asked <- id },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	sub, other := subscriber(t, n), subscriber(t, n)
	id := session.New()
	for _, topic := range []string{"Tnonsense", "H", "A" + string(n.ID), TraceTopic(id)} {
		if err := sub.Subscribe(topic); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Subscribe(TraceTopic(session.New())); err != nil {
		t.Fatal(err)
	}
	await := func() (id session.ID) {
		t.Helper()
		select {
		case id = <-asked:
		case <-time.After(20 * time.Second):
			t.Fatal("nobody was asked")
		}
		return id
	}
	if a, b := await(), await(); a != id && b != id {
		t.Fatalf("asked for %s and %s, want %s", a, b, id)
	}
	if err := sub.Subscribe(TraceTopic(id)); err != nil {
		t.Fatal(err)
	}
	if again := await(); again != id {
		t.Fatalf("asked for %s, want %s again", again, id)
	}
	c.Trace(id, []byte("report"))
	select {
	case got := <-sub.C():
		if string(got[0].Msg[0]) != TraceTopic(id) || string(got[0].Msg[1]) != "report" {
			t.Errorf("got %q", got[0].Msg)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no report")
	}
	if err := sub.Unsubscribe(TraceTopic(id)); err != nil {
		t.Fatal(err)
	}
	if err := sub.Subscribe(TraceTopic(session.ID{1})); err != nil { // what comes behind it shows that the end of the subscription has arrived
		t.Fatal(err)
	}
	await()
	c.Trace(id, []byte("unwanted"))
	c.Trace(session.ID{1}, []byte("wanted"))
	select {
	case got := <-sub.C():
		if string(got[0].Msg[1]) != "wanted" {
			t.Errorf("got %q", got[0].Msg)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no report")
	}
	select {
	case got := <-other.C():
		t.Errorf("another listener got %q", got[0].Msg)
	case id := <-asked:
		t.Errorf("asked for %s, which nobody did", id)
	default:
	}
}

func subscriber(t *testing.T, n topology.Node) *zmqx.Sub {
	t.Helper()
	s, err := zmqx.NewSub(zmqx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Connect(n.Sockets.Control.Dial); err != nil {
		t.Fatal(err)
	}
	return s
}
