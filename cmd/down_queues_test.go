package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/test/await"
	"posta.dev/posta/test/natstest"
	"posta.dev/posta/topology"
)

// TestDown_WhatIsOnTheBroker: posta down says that the cluster's data on the broker stays there, and with --queues deletes it.
func TestDown_WhatIsOnTheBroker(t *testing.T) {
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
	stream := "posta_gone_joiner-aggregator-all_joiner-1_aggregator-1"
	for _, name := range []string{stream, "of_somebody_else"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	text, err := topology.Generate(topology.Variant{Name: "gone", Dir: filepath.Join(dir, "data"),
		Settings: map[string]string{"cluster.transport": "nats", "nats.url": server.URL()}})
	file := filepath.Join(dir, "t.toml")
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	has := func(name string) bool {
		_, err := js.Stream(t.Context(), name)
		return err == nil
	}
	if errs := must(t, "down", "-f", file).err; !strings.Contains(errs, "posta down --queues deletes it") || !has(stream) {
		t.Errorf("it says %q; the stream is there: %v", errs, has(stream))
	}
	must(t, "down", "-f", file, "--queues")
	await.Until(t, "the cluster's stream is gone", func() bool { return !has(stream) })
	if !has("of_somebody_else") {
		t.Error("another's stream is gone")
	}
}
