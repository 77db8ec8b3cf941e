package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/deploy"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/member"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// overBroker returns the topology of the test's cluster with the given broker.
func (k *testKeys) overBroker(url string) *topology.Topology {
	k.t.Helper()
	text, err := topology.Generate(topology.Variant{Address: "127.0.0.1", Settings: map[string]string{
		"cluster.transport": topology.ViaRabbitMQ, "rabbitmq.url": url, "security.trust_broker": "true"}})
	if err != nil {
		k.t.Fatal(err)
	}
	k.write(text)
	t, err := topology.Load(k.file)
	if err != nil {
		k.t.Fatal(err)
	}
	return t
}

// TestS6_OnlyNodesGetTheBrokersPassword: the password travels with the files of nodes. Medics do not talk to the broker, so they do not get
// it. No error and no plan shows it.
func TestS6_OnlyNodesGetTheBrokersPassword(t *testing.T) {
	k := newTestKeys(t)
	tp := k.overBroker("amqp://me:hush-1@rabbit.example/v")
	k.must("init")
	d, keys, err := deploy.DesiredWithKeys(tp, k.text, "image", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprintf("%+v %v", d, keys), "hush") {
		t.Error("the plan has the password")
	}
	for name, b := range keys {
		dir := filepath.Join(t.TempDir(), name)
		if err := security.Install(dir, archiveOf(t, b)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "broker"))
		if medic := strings.HasPrefix(name, "medic"); medic != errors.Is(err, os.ErrNotExist) || !medic && string(text) != tp.RabbitMQ.URL {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	// A container reads the topology without the password.
	inside, err := topology.Parse("t.toml", []byte(strings.TrimPrefix(d.Units[0].Spec.Env[0], plan.EnvTopology+"=")))
	if err != nil {
		t.Fatal(err)
	}
	if err := member.CheckCarriedBroker(inside, nil); exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), "posta deploy") {
		t.Errorf("a node without the password: %v", err)
	}
	home := filepath.Join(t.TempDir(), "keys")
	for _, c := range []struct{ address, want string }{{tp.RabbitMQ.URL, ""},
		{"nats://me:hush-1@rabbit.example", "not an address of the broker"}} {
		b, err := security.ReadBundle(k.at("node", "joiner-1"), tp.Name, security.Identity{Role: security.Node, Name: "joiner-1"}, c.address)
		if err == nil {
			err = security.Install(home, archiveOf(t, b))
		}
		if err != nil {
			t.Fatal(err)
		}
		joiner, err := security.Load(home, tp.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := member.CheckCarriedBroker(inside, joiner); (err == nil) != (c.want == "") || err != nil &&
			(!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("a node with %s: %v", topology.RedactURL(c.address), err)
		}
	}
}

// TestS6_RollbackUsesThePresentPassword: the hosts keep the former topology without its broker's password.
func TestS6_RollbackUsesThePresentPassword(t *testing.T) {
	k := newTestKeys(t)
	before := k.overBroker("amqp://me:hush-1@rabbit.example/v")
	k.must("init")
	d, _, err := deploy.DesiredWithKeys(before, k.text, "image", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	kept := &deploy.EngineSet{Observed: plan.Observed{Engines: []plan.Engine{
		{Hosts: []string{"local"}, Revisions: []plan.Revision{{Number: 1, File: d.File, Image: "image", Digest: "x"}}}}}}
	now := k.overBroker("amqp://me:hush-2@rabbit.example/v")
	back, keys, err := deploy.Desired(now, deploy.ImageSource{}, kept, true)
	if err != nil || back.RevisionDigest() != d.RevisionDigest() || len(keys) != len(before.All()) {
		t.Fatalf("back to %d units with %d keys: %v", len(back.Units), len(keys), err)
	}
	dir := filepath.Join(t.TempDir(), "keys")
	if err := security.Install(dir, archiveOf(t, keys["joiner-1"])); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "broker")); err != nil || string(text) != now.RabbitMQ.URL {
		t.Errorf("joiner-1 gets %q, %v", text, err)
	}
	other := k.overBroker("amqp://me:hush-3@other.example/v")
	if _, _, err := deploy.Desired(other, deploy.ImageSource{}, kept, true); !errors.Is(err, plan.ErrRefused) ||
		!strings.Contains(err.Error(), "another broker") || strings.Contains(err.Error(), "hush") {
		t.Errorf("back to another broker: %v", err)
	}
}
