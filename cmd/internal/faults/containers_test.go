package faults

import (
	"context"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/topology"
)

// TestReady_NamesWhatIsMissing: the error names the silent nodes and medics, and has no empty list if all are silent.
func TestReady_NamesWhatIsMissing(t *testing.T) {
	for endpoint, want := range map[string]string{
		"nowhere":              "listen to the nodes: ",
		"tcp://127.0.0.1:1":    "nothing is heard of joiner-1: ",
		"ipc:///tmp/p-no-such": "nothing is heard of joiner-1: ",
	} {
		n := topology.Node{ID: "joiner-1"}
		n.Sockets.Control.Dial = endpoint
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := Containers{Nodes: []topology.Node{n}}.Ready(ctx)
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
