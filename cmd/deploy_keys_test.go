package cmd

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/deploy"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// twoHosts returns a topology over two machines.
func (k *testKeys) twoHosts() *topology.Topology {
	k.t.Helper()
	text, err := topology.Generate(topology.Variant{Address: "10.0.0.1"})
	if err != nil {
		k.t.Fatal(err)
	}
	k.write(strings.Replace(text, "[hosts.local]", "[hosts.far]\naddress = \"10.0.0.2\"\n[hosts.local]", 1))
	t, err := topology.Load(k.file)
	if err != nil {
		k.t.Fatal(err)
	}
	return t
}

// TestS6_RenderedKeysAreForTheirProcesses: the files for a machine include the keys of its own nodes and medics, readable by their user
// alone. They include neither the CA's key nor any other private key.
func TestS6_RenderedKeysAreForTheirProcesses(t *testing.T) {
	k := newTestKeys(t)
	tp := k.twoHosts()
	k.must("init")
	for kind, at := range map[string]func(topology.Node) string{"systemd": tp.SystemdKeys, "compose": topology.ComposeKeys} {
		dir := t.TempDir()
		if r := posta(t, "deploy", "-f", k.file, "--render", kind, dir); r.code != exit.OK || strings.Contains(r.out+r.err, "PRIVATE") {
			t.Fatalf("%s: %d, %s", kind, r.code, r.err)
		}
		own := map[string]bool{}
		for _, n := range tp.All() {
			home := filepath.Join(dir, n.Host, at(n))
			own[filepath.Join(home, "key.pem")] = true
			keys, err := security.Load(home, tp.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if id := keys.Identity(); id.Name != string(n.ID) {
				t.Errorf("%s: %s has the keys of %s", kind, n.ID, id)
			}
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if private := strings.Contains(string(text), "PRIVATE"); private != own[path] || private && info.Mode() != 0o600 {
				t.Errorf("%s: %s, mode %v, private key %v", kind, path, info.Mode(), private)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestS6_WhatDeployHasToCarry: deploy carries all keys of a cluster that has keys, or fails with an error that says what to do. It carries
// none if the topology works without keys.
func TestS6_WhatDeployHasToCarry(t *testing.T) {
	k := newTestKeys(t)
	tp := k.twoHosts()
	if keys, err := deploy.UnitKeys(tp, ""); keys != nil || exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), "posta key init") {
		t.Errorf("nobody has made keys: %v, %v", keys, err)
	}
	here := loaded(t, func(text string) string { return text }, topology.Variant{Address: "127.0.0.1"})
	if keys, err := deploy.UnitKeys(here, ""); keys != nil || err != nil {
		t.Errorf("nobody has made keys, and this machine alone reaches the cluster: %v, %v", keys, err)
	}
	k.must("init")
	keys, err := deploy.UnitKeys(tp, "")
	if err != nil || len(keys) != len(tp.All()) {
		t.Fatalf("%d of %d, %v", len(keys), len(tp.All()), err)
	}
	before := deploy.Digests(keys)
	k.must("revoke", "reducer-1")
	if _, err := deploy.UnitKeys(tp, ""); err == nil || !strings.Contains(err.Error(), "node/reducer-1") ||
		!strings.Contains(err.Error(), "posta key init") {
		t.Errorf("with a revoked key: %v", err)
	}
	k.must("init")
	if keys, err = deploy.UnitKeys(tp, ""); err != nil {
		t.Fatal(err)
	}
	for name, digest := range deploy.Digests(keys) {
		if digest == before[name] {
			t.Errorf("%s does not hear that a key is revoked", name)
		}
	}
	if err := os.RemoveAll(filepath.Join(k.dir, "medic", "medic-2")); err != nil {
		t.Fatal(err)
	}
	if _, err := deploy.UnitKeys(tp, ""); err == nil || !strings.Contains(err.Error(), "medic/medic-2") ||
		!strings.Contains(err.Error(), "posta key init") {
		t.Errorf("without the key of a medic: %v", err)
	}
	k.write(strings.Replace(k.text, "insecure = false", "insecure = true", 1))
	if tp, err = topology.Load(k.file); err != nil {
		t.Fatal(err)
	}
	if keys, err := deploy.UnitKeys(tp, ""); keys != nil || err != nil {
		t.Errorf("with insecure = true: %v, %v", keys, err)
	}
}

func archiveOf(t *testing.T, b security.Bundle) *bytes.Buffer {
	t.Helper()
	var archive bytes.Buffer
	if _, err := b.WriteTo(&archive); err != nil {
		t.Fatal(err)
	}
	return &archive
}
