package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// TestS6_CommandsWarnBeforeAKeyEnds: each command warns once if the key expires within 30 days.
func TestS6_CommandsWarnBeforeAKeyEnds(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	k.must("new", "alice", "--role", "watch")
	keys, err := security.Load(k.at("client", "alice"), "posta", nil)
	if err != nil {
		t.Fatal(err)
	}
	for days, warns := range map[int]bool{31: false, 29: true, -1: true} {
		var said await.Log
		x := &command{Call: &call.Call{Err: &said}}
		c := cli.NewContext(&cli.App{Metadata: map[string]any{}}, nil, nil)
		for range 2 {
			reach.WarnOfExpiry(x.Call, c, keys, keys.Expiry().AddDate(0, 0, -days))
		}
		if n := strings.Count(said.String(), "posta key new"); warns != (n == 1) || n > 1 {
			t.Errorf("%d days before: %q", days, said.String())
		}
	}
}

// TestS6_WhichKeyACommandUses: it also tests what the command says if there is no key, or an unusable one.
func TestS6_WhichKeyACommandUses(t *testing.T) {
	k := newTestKeys(t)
	k.write(strings.Replace(k.text, "# address = \"127.0.0.1\"", "address = \"127.0.0.1\"", 1))
	k.must("init")
	k.letIn(k.must("new", "alice", "--role", "watch").out)
	bob := filepath.Join(t.TempDir(), "bob")
	k.letIn(k.must("new", "bob", "--role", "watch", "--out", bob).out)
	top, err := topology.Load(k.file)
	if err != nil {
		t.Fatal(err)
	}
	if !top.OverTCP() {
		t.Fatal("this topology has unix sockets alone, which need no keys")
	}
	status := func(args ...string) result {
		return posta(t, append([]string{"status", "-f", k.file}, args...)...)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"the only one there is": {nil, exit.NoCluster, "no node of"},
		"one that is named":     {[]string{"--key", bob}, exit.NoCluster, "no node of"},
		"one that is not there": {[]string{"--key", bob + "2"}, exit.Usage, "read your key"},
		"a node's":              {[]string{"--key", filepath.Join(k.dir, "node", "input-1")}, exit.Usage, "that of node/input-1"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := status(c.args...); r.code != c.code || !strings.Contains(r.err, c.want) {
				t.Errorf("%d: %s", r.code, r.err)
			}
		})
	}
	k.must("new", "carol", "--role", "watch")
	if r := status(); r.code != exit.Usage || !strings.Contains(r.err, "say which is yours with --key") {
		t.Errorf("with two keys: %d: %s", r.code, r.err)
	}
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	if err := os.MkdirAll(filepath.Join(config, "posta", "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(bob, filepath.Join(config, "posta", "keys", "posta")); err != nil {
		t.Fatal(err)
	}
	if r := status(); r.code != exit.NoCluster {
		t.Errorf("with a key below XDG_CONFIG_HOME: %d: %s", r.code, r.err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if err := os.RemoveAll(filepath.Join(k.dir, "client")); err != nil {
		t.Fatal(err)
	}
	if r := status(); r.code != exit.Usage || !strings.Contains(r.err, "no key for you") {
		t.Errorf("without a key: %d: %s", r.code, r.err)
	}
	open := filepath.Join(config, "posta", "keys", "posta")
	if err := os.Chmod(filepath.Join(open, "key.pem"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := status("--key", open); r.code != exit.Usage || !strings.Contains(r.err, "chmod") {
		t.Errorf("a key that others may read: %d: %s", r.code, r.err)
	}
}
