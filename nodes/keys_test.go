package nodes_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// keyedCluster is a cluster over TCP with keys: alice may submit, and wim may watch.
type keyedCluster struct {
	*cluster
	ring       *keytest.Ring
	keys       map[topology.NodeID]*security.Keys
	alice, wim *security.Keys
}

func startKeyed(t *testing.T) *keyedCluster {
	t.Helper()
	topo := keytest.Loopback(t, topology.Variant{Dir: t.TempDir()})
	k := &keyedCluster{ring: keytest.New(t, topo.Name), keys: map[topology.NodeID]*security.Keys{}}
	k.alice = k.ring.Client(t, security.Identity{Role: security.Submit, Name: "alice"})
	k.wim = k.ring.Client(t, security.Identity{Role: security.Watch, Name: "wim"})
	for _, n := range topo.Nodes() {
		k.keys[n.ID] = k.ring.Of(t, n)
	}
	k.cluster = startWith(t, topo, k.keys)
	return k
}

// entries returns the addresses at which clients begin, with the names of the nodes.
func (k *keyedCluster) entries() (all []string) {
	for _, n := range k.topo.Nodes() {
		if n.Sockets.Client.Exists() {
			all = append(all, client.NamedEndpoint(n.Sockets.Client.Dial, string(n.ID)))
		}
	}
	return all
}

// ask sends an input a request, and returns why the input refuses it.
func (k *keyedCluster) ask(keys *security.Keys, what protocol.RequestType) error {
	q := protocol.Request{Type: what, Session: session.New(), Force: what == protocol.Cancel}
	_, err := client.RequestOnce(k.t.Context(), keys, k.entries()[0], q, time.Minute)
	return err
}

// TestS3_AKeyedClusterEqualsTheOracle: frames, acknowledgements, heartbeats and requests travel over TLS, and the answers are the same.
func TestS3_AKeyedClusterEqualsTheOracle(t *testing.T) {
	dir, want := data(t, 20_000)
	k := startKeyed(t)
	got := k.analyse(dir, func(cfg *client.Config) { cfg.Entries, cfg.Keys = k.entries(), k.alice })
	if !bytes.Equal(got, want) {
		t.Errorf("answers differ:\n got %.2000s\nwant %.2000s", got, want)
	}
	if err := k.ask(k.wim, protocol.Info); err != nil {
		t.Errorf("wim: %v", err)
	}
	if err := k.ask(k.wim, protocol.Cancel); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("wim may watch, and cancels a session: %v", err)
	}
}

// TestS3_WhoIsAClient: the sockets for clients admit only listed clients. Members of the cluster may ask nothing there. A peer without TLS
// has no identity, although on a unix socket it would be the local operator.
func TestS3_WhoIsAClient(t *testing.T) {
	k := startKeyed(t)
	in := k.topo.Holding(topology.Input)[0]
	joiner, err := k.topo.Node("joiner-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.ask(k.alice, protocol.Info); err != nil { // by now the input listens
		t.Fatal(err)
	}
	unlisted := keytest.New(t, k.topo.Name).Client(t, security.Identity{Role: security.Operate, Name: "mallory"})
	for name, c := range map[string]struct {
		keys *security.Keys
		kind security.Kind
		may  bool
	}{
		"a listed client":            {k.alice, security.ClientAPI, true},
		"a client of no list":        {unlisted, security.ClientAPI, false},
		"a node":                     {k.keys[joiner.ID], security.ClientAPI, false},
		"a medic":                    {k.ring.Of(t, k.topo.MedicNodes()[0]), security.ClientAPI, false},
		"a client at another socket": {k.alice, security.Control, false},
		"a plain peer":               {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			events := keytest.NewEvents()
			o := zmqx.Options{OnEvent: events.Take, BackoffMax: 20 * time.Millisecond}
			if c.keys != nil {
				o.TLS = c.keys.Socket(c.kind, nil)
			}
			req, err := zmqx.NewReq(o)
			if err == nil {
				err = req.ConnectTo(in.Sockets.Client.Dial, in.Identity().String())
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = req.Close() }()
			want := zmqx.Connected
			if !c.may {
				want = zmqx.Unreachable
			}
			if e := events.Await(t, zmqx.Connected, zmqx.Unreachable); e.Kind != want {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestS6_ARevokedClientIsCutOff: a node that reads its keys again ends the connections of a revoked client, and no others.
func TestS6_ARevokedClientIsCutOff(t *testing.T) {
	k := startKeyed(t)
	in := k.topo.Holding(topology.Input)[0]
	connect := func(keys *security.Keys) keytest.Events {
		events := keytest.NewEvents()
		req, err := zmqx.NewReq(zmqx.Options{OnEvent: events.Take, TLS: keys.Socket(security.ClientAPI, nil)})
		if err == nil {
			t.Cleanup(func() { _ = req.Close() })
			err = req.ConnectTo(in.Sockets.Client.Dial, in.Identity().String())
		}
		if err != nil {
			t.Fatal(err)
		}
		events.Await(t, zmqx.Connected)
		return events
	}
	alice, wim := connect(k.alice), connect(k.wim)
	k.ring.Revoke(t, in.Identity(), security.Identity{Role: security.Submit, Name: "alice"})
	if err := k.keys[in.ID].Reload(); err != nil {
		t.Fatal(err)
	}
	alice.Await(t, zmqx.Disconnected)
	if e := alice.Await(t, zmqx.Connected, zmqx.Unreachable); e.Kind == zmqx.Connected {
		t.Error("alice came back")
	}
	select {
	case e := <-wim:
		t.Errorf("wim hears %+v", e)
	default:
	}
}
