package client

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/zmqx"
)

// keyring holds the keys of a cluster in which alice may submit.
type keyring struct {
	t       testing.TB
	ca      *security.CA
	root    string
	clients security.Clients
}

func newKeyring(t testing.TB) *keyring {
	t.Helper()
	ca, err := security.NewCA("posta", time.Now())
	check(t, err)
	return &keyring{t: t, ca: ca, root: t.TempDir(), clients: security.Clients{}}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (k *keyring) load(name string, p security.Pair, clients security.Clients) *security.Keys {
	k.t.Helper()
	dir := filepath.Join(k.root, name)
	check(k.t, security.WritePair(dir, p))
	check(k.t, security.WriteCAs(dir, k.ca.Certificate()))
	keys, err := security.Load(dir, "posta", clients)
	check(k.t, err)
	return keys
}

// client makes a client's key and admits it.
func (k *keyring) client(name string) *security.Keys {
	k.t.Helper()
	p, err := security.NewClient("posta", name, time.Now())
	check(k.t, err)
	k.clients[p.Key.Fingerprint()] = security.Identity{Role: security.Submit, Name: name}
	return k.load(name, p, nil)
}

func (k *keyring) fingerprint(name string) security.Fingerprint {
	k.t.Helper()
	p, err := security.ReadPair(filepath.Join(k.root, name))
	check(k.t, err)
	return p.Key.Fingerprint()
}

func (k *keyring) node(name string) *security.Keys {
	k.t.Helper()
	p, err := k.ca.Issue(security.Identity{Role: security.Node, Name: name}, time.Now())
	check(k.t, err)
	return k.load(name, p, k.clients)
}

// cluster returns a fake cluster with these keys.
func (k *keyring) cluster(inputs, outputs int) *fakeCluster {
	return newFakeClusterWith(k.t, inputs, outputs, func(node string) zmqx.TLS { return k.node(node).Socket(security.ClientAPI, anyone) })
}

// TestS3_ClientsUseKeys: a whole session over mutual TLS with all nodes that the entry names, while one of them is down for a time.
func TestS3_ClientsUseKeys(t *testing.T) {
	k := newKeyring(t)
	alice := k.client("alice")
	f := k.cluster(2, 1)
	dir, want := dataDir(t, 3000)
	cfg := f.config()
	cfg.Dir, cfg.Keys, cfg.Timeout, cfg.GiveUpAfter = dir, alice, 2*time.Second, time.Minute
	cfg.Entries = []string{NamedEndpoint(f.inputs[0].endpoint, "input-1")}
	f.fault = func(h heard) fault {
		return fault{mute: h.before == 0 && h.request.Type == protocol.Chunk && h.request.Seq == 2}
	}
	if _, err := Run(during(t, time.Minute), cfg); err != nil {
		t.Fatal(err)
	}
	f.compare(want)
	reply, err := RequestOnce(during(t, time.Minute), alice, NamedEndpoint(f.outputs[0].endpoint, "output-1"),
		protocol.Request{Type: protocol.Info}, time.Minute)
	if err != nil || reply.Node != "output-1" {
		t.Errorf("one request to output-1: %+v, %v", reply, err)
	}
}

// TestS3_WhyAClientIsNotLetIn: a client that is refused gets the reason, and what to do, long before it would give up a silent cluster.
func TestS3_WhyAClientIsNotLetIn(t *testing.T) {
	k := newKeyring(t)
	alice, gone, stranger := k.client("alice"), k.client("gone"), k.client("mallory")
	delete(k.clients, k.fingerprint("mallory"))
	nodes := k.node("input-1")
	check(t, security.Revoke(filepath.Join(k.root, "input-1"), k.fingerprint("gone"), "gone"))
	check(t, nodes.Reload())
	f := newFakeClusterWith(t, 1, 1, func(string) zmqx.TLS { return nodes.Socket(security.ClientAPI, anyone) })
	plain := newFakeCluster(t, 1, 1)
	other := newKeyring(t).client("alice")
	at := f.inputs[0].endpoint
	for name, c := range map[string]struct {
		keys  *security.Keys
		entry string
		want  string
		is    error
	}{
		"a key that nobody has let in": {stranger, NamedEndpoint(at, "input-1"), "not in [clients] of the cluster's topology, or was " +
			"revoked, or has expired by the clock there; its log says which; posta key new NAME", ErrRefused},
		"a key that was revoked": {gone, NamedEndpoint(at, "input-1"), "revoked", ErrRefused},
		"another node":           {alice, NamedEndpoint(at, "input-2"), "input-2 was dialled", ErrRefused},
		"another cluster":        {other, NamedEndpoint(at, "input-1"), "ask the operator for its ca.pem", ErrRefused},
		"a cluster without keys": {alice, NamedEndpoint(plain.inputs[0].endpoint, "input-1"),
			"it is not certain that input-1 answers", ErrRefused},
		"nobody says which node it is":      {alice, at, "tcp://input-1@", ErrConfig},
		"a node that is not there":          {alice, "tcp://input-1@127.0.0.1:1", "start one with", ErrNoCluster},
		"a client without keys":             {nil, at, "start one with", ErrNoCluster},
		"a client without keys, and a name": {nil, NamedEndpoint(at, "input-1"), "start one with", ErrNoCluster},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Entries: []string{c.entry}, Keys: c.keys, Timeout: 2 * time.Second, GiveUpAfter: 2 * time.Minute}
			if errors.Is(c.is, ErrNoCluster) {
				cfg.Timeout, cfg.GiveUpAfter = 100*time.Millisecond, 500*time.Millisecond
			}
			began := time.Now()
			cl, err := Dial(during(t, time.Minute), cfg)
			if err == nil {
				check(t, cl.Close())
			}
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
}

// anyone admits every peer that has proven its name.
func anyone(security.Identity) error { return nil }
