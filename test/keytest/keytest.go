// Package keytest makes the keys of a cluster for tests, good ones and bad ones.
package keytest

import (
	"path/filepath"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Ring is the CA of a cluster, and the key directories that the test has asked for.
type Ring struct {
	ca      *security.CA
	cluster string
	root    string
	clients security.Clients
}

// New makes the CA of a cluster.
func New(t testing.TB, cluster string) *Ring {
	t.Helper()
	ca, err := security.NewCA(cluster, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return &Ring{ca: ca, cluster: cluster, root: t.TempDir(), clients: security.Clients{}}
}

// Dir returns the key directory of a process, laid out as posta key init does it. Root is the directory above all of them.
func (r *Ring) Dir(id security.Identity) string {
	return filepath.Join(r.root, filepath.FromSlash(id.String()))
}

// Root is the directory that [security] keys would name.
func (r *Ring) Root() string { return r.root }

// Make makes keys for a node or a medic as of a moment: long ago, they have expired. Whoever has some gets others.
func (r *Ring) Make(t testing.TB, id security.Identity, at time.Time) {
	t.Helper()
	pair, err := r.ca.Issue(id, at)
	if err == nil {
		err = r.write(r.Dir(id), pair)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Client makes keys for a client, and lists it with its role for all that Load returns later.
func (r *Ring) Client(t testing.TB, id security.Identity) *security.Keys {
	t.Helper()
	pair, err := security.NewClient(r.cluster, id.Name, time.Now())
	if err == nil {
		err = r.write(r.Dir(id), pair)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.clients[pair.Key.Fingerprint()] = id
	return r.Load(t, id)
}

func (r *Ring) write(dir string, pair security.Pair) error {
	if err := security.WritePair(dir, pair); err != nil {
		return err
	}
	return security.WriteCAs(dir, r.ca.Certificate())
}

// Load loads what is in a process's directory.
func (r *Ring) Load(t testing.TB, id security.Identity) *security.Keys {
	t.Helper()
	keys, err := security.Load(r.Dir(id), r.cluster, r.clients)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Of makes and loads the keys of a node or a medic.
func (r *Ring) Of(t testing.TB, n topology.Node) *security.Keys {
	t.Helper()
	r.Make(t, n.Identity(), time.Now())
	return r.Load(t, n.Identity())
}

// Revoke has one process refuse the present key of another one from its next Reload on.
func (r *Ring) Revoke(t testing.TB, by, whom security.Identity) {
	t.Helper()
	pair, err := security.ReadPair(r.Dir(whom))
	if err == nil {
		err = security.Revoke(r.Dir(by), pair.Key.Fingerprint(), whom.String())
	}
	if err != nil {
		t.Fatal(err)
	}
}
