package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/deploy"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/topology"
)

// TestNoMessageEndsBeforeAListThatIsEmpty: a message that lists choices says in words when it has none. The helper posta checks this in the
// output of every other test.
func TestNoMessageEndsBeforeAListThatIsEmpty(t *testing.T) {
	for _, line := range []string{"posta: chaos: unknown name \"x\"; the choices are ", "posta: unknown analysis \"x\"; there is ",
		"waiting for", "first line\nthere is\n", "nobody called"} {
		if !unfinished.MatchString(line) {
			t.Errorf("%q is not found", line)
		}
	}
	k := newTestKeys(t)
	k.must("init")
	for _, made := range []string{"node", "medic", "issued"} {
		if err := os.RemoveAll(filepath.Join(k.dir, made)); err != nil {
			t.Fatal(err)
		}
	}
	if r := k.say("revoke", "nobody"); r.code != exit.Usage || !strings.Contains(r.err, "no keys at all") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	if _, _, err := (&deploy.EngineSet{}).Container("joiner-1"); !errors.Is(err, topology.ErrNoNode) ||
		!strings.Contains(err.Error(), "nothing is deployed") {
		t.Errorf("no host has a container: %v", err)
	}
}
