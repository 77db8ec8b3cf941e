package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/topology"
)

// TestS6_WhatUpRemembersHasNoPassword: the text of the topology may contain a broker's password, and posta up does not store it.
func TestS6_WhatUpRemembersHasNoPassword(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.toml")
	text, err := topology.Generate(topology.Variant{Settings: map[string]string{"rabbitmq.url": "amqp://posta:hunter2@10.0.0.1:5672/"}})
	if err == nil {
		err = errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Mkdir(filepath.Join(dir, "cluster"), 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	top, err := topology.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	// A former version of the program stored the whole text.
	if err := os.WriteFile(reach.Below(top, topologyNote), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := readNote(top); err != nil || n.digest != "" || len(n.nodes) != 0 {
		t.Errorf("the text is read as %+v, %v", n, err)
	}
	if err := noteTopology(top); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(reach.Below(top, topologyNote))
	if err != nil || strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "amqp") {
		t.Errorf("the note is %q, %v", b, err)
	}
	if n, err := readNote(top); err != nil || n.digest != textDigest([]byte(text)) || len(n.nodes) != len(top.Nodes()) {
		t.Errorf("the note is read back as %+v, %v", n, err)
	}
	written, again := stat(t, reach.Below(top, topologyNote)), noteTopology(top)
	if again != nil || !os.SameFile(written, stat(t, reach.Below(top, topologyNote))) {
		t.Errorf("W5: the same note is written again, which needs room on the disk: %v", again)
	}
}

func stat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
