package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"posta.dev/posta/security"
)

// TestS1_ARunOverTCPMakesItsKeys: nodes on ports of loopback have keys that nobody asked for, the answer is the one of unix sockets, and the keys are for
// this user alone.
func TestS1_ARunOverTCPMakesItsKeys(t *testing.T) {
	bikes, dir := data(t, "1000"), filepath.Join(t.TempDir(), "run")
	answer := func(args ...string) (a struct{ Queries map[string]any }) {
		t.Helper()
		r := must(t, append([]string{"run", "bikes", "--data", bikes, "--json"}, args...)...)
		if err := json.Unmarshal([]byte(r.out), &a); err != nil || len(a.Queries) == 0 {
			t.Fatalf("%d queries, %v", len(a.Queries), err)
		}
		return a
	}
	plain := answer()
	if keyed := answer("--sockets", "tcp", "--dir", dir); !reflect.DeepEqual(keyed, plain) {
		t.Errorf("over TCP the answer is\n%v\nand over unix sockets\n%v", keyed, plain)
	}
	for name, want := range map[string]os.FileMode{"keys": os.ModeDir | 0o700, "keys/node/joiner-1": os.ModeDir | 0o700, "keys/node/joiner-1/key.pem": 0o600, "keys/client/run/key.pem": 0o600} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := security.Load(filepath.Join(dir, "keys", "node", "joiner-1"), "run", nil); err == nil || strings.Contains(err.Error(), "no such") {
		t.Errorf("joiner-1's keys are for any cluster: %v", err)
	}
	if again := answer("--sockets", "tcp", "--dir", dir); !reflect.DeepEqual(again, plain) {
		t.Error("in a directory that was used before it answers otherwise")
	}
}
