package keytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Loopback returns a topology over TCP, in a file of its own. Its nodes are on an address of this test alone (127.0.0.0/8 are 16 million,
// all of this machine), so that its ports are free.
func Loopback(t testing.TB, v topology.Variant) *topology.Topology {
	t.Helper()
	v.Address = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 2+rand.IntN(250))
	v.Ports = 20_000 + rand.IntN(10_000)
	return temp.Topology(t, v)
}

// patience is how long a test waits for what must happen.
const patience = 5 * time.Minute

// Events is what a socket of a test hears of its connections.
type Events chan zmqx.Event

// NewEvents has room for more than a test lets happen.
func NewEvents() Events { return make(Events, 1024) }

// Take is for zmqx.Options.OnEvent.
func (h Events) Take(e zmqx.Event) {
	select {
	case h <- e:
	default: // a socket that is refused tries again for ever
	}
}

// Await returns the next event of one of these kinds.
func (h Events) Await(t testing.TB, kinds ...zmqx.EventKind) zmqx.Event {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e := <-h:
			if slices.Contains(kinds, e.Kind) {
				return e
			}
		case <-deadline:
			t.Fatalf("none of the events %v came", kinds)
		}
	}
}

// Sub returns a subscriber to everything that a node or medic publishes on its control socket. With nil as its keys it speaks plain ZMTP.
func Sub(t testing.TB, keys *security.Keys, kind security.Kind, to topology.Node) (*zmqx.Sub, Events) {
	t.Helper()
	events := NewEvents()
	o := zmqx.Options{OnEvent: events.Take, BackoffMax: 20 * time.Millisecond}
	if keys != nil {
		o.TLS = keys.Socket(kind, nil)
	}
	s, err := zmqx.NewSub(o)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
		err = s.Subscribe("")
	}
	if err == nil {
		_, err = s.ConnectTo(to.Sockets.Control.Dial, to.Identity().String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, events
}

// Listener is somebody who tries to listen on a control socket.
type Listener struct {
	Name string
	Keys *security.Keys // nil: it speaks plain ZMTP
	Kind security.Kind
	May  bool
}

// Listeners are those that a control socket has to tell apart. own are the keys' owner, who reads its list of revoked keys again
// afterwards.
func (r *Ring) Listeners(t testing.TB, topo *topology.Topology, own topology.Node) []Listener {
	t.Helper()
	node := func(id topology.NodeID) topology.Node {
		n, err := topo.Node(id)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	medics := topo.MedicNodes()
	revoked := r.Of(t, node("output-1"))
	r.Revoke(t, own.Identity(), node("output-1").Identity())
	gone := node("joiner-1")
	gone.ID = "joiner-9"
	client := func(role security.Role) *security.Keys {
		return r.Client(t, security.Identity{Role: role, Name: "one-to-" + string(role)})
	}
	return []Listener{
		{"a node", r.Of(t, node("reducer-1")), security.Control, true},
		{"a medic", r.Of(t, medics[len(medics)-1]), security.Control, true},
		{"a client that may watch", client(security.Watch), security.Control, true},
		{"a client that may do everything", client(security.Operate), security.Control, true},
		{"a client that may submit", client(security.Submit), security.Control, false},
		{"a plain peer", nil, "", false},
		{"a node that is not in the topology", r.Of(t, gone), security.Control, false},
		{"a node of another CA", New(t, topo.Name).Of(t, node("joiner-1")), security.Control, false},
		{"a node that is revoked", revoked, security.Control, false},
		{"a node that takes it for a socket of links", r.Of(t, node("joiner-1")), security.Broadcast, false},
	}
}

// Try has each of them dial a control socket, and compares who gets in.
func Try(t *testing.T, all []Listener, to topology.Node) {
	t.Helper()
	for _, l := range all {
		t.Run(l.Name, func(t *testing.T) {
			s, events := Sub(t, l.Keys, l.Kind, to)
			e := events.Await(t, zmqx.Connected, zmqx.Unreachable)
			for l.May && e.Kind == zmqx.Unreachable { // it may not listen yet
				e = events.Await(t, zmqx.Connected, zmqx.Unreachable)
			}
			if got := e.Kind == zmqx.Connected; got != l.May {
				t.Errorf("%s is let in: %v", l.Name, got)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
