package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/topology"
)

// TestS4_TheCommandsOfTheSecurityPage runs the commands of docs/security.md in order, with a cluster on this machine instead of a deployed
// one.
func TestS4_TheCommandsOfTheSecurityPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```sh\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the page has no commands; has its form changed?")
	}
	k := newTestCluster(t)
	k.write(topology.Variant{Address: "127.0.0.1", Ports: freePorts(t, 40),
		Settings: map[string]string{"limits.drain": "0s", "medics.replicas": "0"}})
	ran := map[string]bool{}
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(line, "#")
		args := strings.Fields(line)
		if len(args) < 2 || args[0] != "posta" {
			t.Fatalf("%q is not a command of ours", line)
		}
		switch args = args[1:]; {
		case args[0] == "deploy":
			args[0] = "up"
		case args[0] == "connect":
			if args[len(args)-1] != "ipc:DIR" {
				t.Errorf("%q: connect does not listen in DIR", line)
			}
			k.connected()
			ran[args[0]] = true
			continue
		}
		r := must(t, append(args, "-f", k.file)...)
		ran[strings.Join(args[:min(2, len(args))], " ")] = true
		if args[0] == "key" && args[1] == "new" {
			text, err := os.ReadFile(k.file)
			if err == nil {
				err = os.WriteFile(k.file, []byte(strings.Replace(string(text), "[clients]\n", "[clients]\n"+r.out, 1)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []string{"key init", "key new", "up", "connect", "key revoke"} {
		if !ran[want] {
			t.Errorf("the page does not say posta %s; only %v", want, ran)
		}
	}
}
